package turn_test

import (
	"context"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// rejecting is a backend whose API rejects what some sessions contain.
type rejecting struct {
	*runnertest.Scripted
	rejects func(runner.Session) bool
	recalls bool // the API also rejects the window
	asked   []runner.How
}

func (b *rejecting) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	out := b.Scripted.Run(ctx, t)
	b.asked = append(b.asked, t.Session.How)
	if b.rejects(t.Session) || b.recalls && t.Recalls {
		out.End, out.Reason, out.Rejected = runner.Failed, "API Error: 400 tool use concurrency issues", true
	}
	return out
}

// A message is not to blame for a conversation that the API rejects: it gets one try in a new
// session, with the window, and then one without it. If that is rejected too, the agent keeps
// its conversation.
func TestARejectedConversation(t *testing.T) {
	backend := &rejecting{Scripted: new(runnertest.Scripted), rejects: func(runner.Session) bool { return false }}
	a := newAgentTurns(t, backend.Scripted)
	a.Deps.Backends = map[string]runner.Backend{"scripted": backend}
	s := a.settings
	s.Linger = 0
	session := func() journal.Session { got, _ := a.Sessions.Get("coder"); return got }
	unusable := 0
	run := func(message string) (runner.Outcome, string) {
		t.Helper()
		prompt := ""
		out, _, err := a.Run(t.Context(), s, turn.Task{
			Record: journal.Record{Agent: "coder", Message: message}, Begun: 1,
			Prompt:   func(_ *journal.Record, r turn.Recall) string { prompt = string(r.Prior); return "@say ready" },
			Steer:    func(*journal.Record) *runner.Steering { return nil },
			Permit:   func(*journal.Record) runner.Permit { return nil },
			Unusable: func(*journal.Record, runner.Outcome) error { unusable++; return nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return out, prompt
	}
	run("aaaaaaaaaa")
	first := session()
	if !first.Used || first.ID == "" {
		t.Fatalf("the first session is %+v", first)
	}

	backend.rejects = func(s runner.Session) bool { return s.ID == first.ID }
	backend.asked = nil
	out, prior := run("bbbbbbbbbb")
	second := session()
	if out.End != runner.Done || second.ID == first.ID || unusable != 1 || !slices.Equal(backend.asked, []runner.How{runner.Resume, runner.New}) {
		t.Errorf("ended %s in the session %+v, after %v, with %d clients told unusable", out.End, second, backend.asked, unusable)
	}
	if prior == "" {
		t.Error("the new session did not get the window")
	}

	backend.rejects = func(runner.Session) bool { return true }
	backend.asked = nil
	out, _ = run("cccccccccc")
	if out.End != runner.Failed || !out.Rejected || session() != second || !slices.Equal(backend.asked, []runner.How{runner.Resume, runner.New, runner.New}) {
		t.Errorf("ended %s in the session %+v, after %v, want %s in %+v", out.End, session(), backend.asked, runner.Failed, second)
	}

	// The window contains what the API rejects.
	backend.rejects, backend.recalls, backend.asked, unusable = func(s runner.Session) bool { return s.ID == second.ID }, true, nil, 0
	out, prior = run("eeeeeeeeee")
	if out.End != runner.Done || prior != "" || session().ID == second.ID || unusable != 2 || !slices.Equal(backend.asked, []runner.How{runner.Resume, runner.New, runner.New}) {
		t.Errorf("ended %s after %v with the window %q, with %d clients told unusable", out.End, backend.asked, prior, unusable)
	}
	backend.recalls, backend.rejects = false, func(runner.Session) bool { return true }

	// A session that is new has no conversation that could be damaged.
	s.Session = turn.SessionFresh
	backend.asked = nil
	if out, _ = run("dddddddddd"); out.End != runner.Failed || !slices.Equal(backend.asked, []runner.How{runner.New}) {
		t.Errorf("ended %s after %v", out.End, backend.asked)
	}
}
