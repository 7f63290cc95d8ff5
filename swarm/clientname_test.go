package swarm_test

import (
	"context"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// mixedField returns a field with two agents: coder, whose client is of the kind scripted,
// and tester, whose client is of the kind claude.
func mixedField(t *testing.T) (f *field, other *runnertest.Scripted) {
	t.Helper()
	f = newField(t, "coder", "tester")
	other = &runnertest.Scripted{Name: "claude"}
	f.clients = other
	f.plan.Agents[1].Backend = "claude"
	return f, other
}

// ledgerOf returns the ledger's lines about an agent.
func (f *field) ledgerOf(agent string) (lines []journal.LedgerLine) {
	f.t.Helper()
	err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
		if l.Agent == agent {
			lines = append(lines, l)
		}
		return true
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return lines
}

// The status, the receipts and the ledger contain the kind of each client, and its
// version once the client has reported it.
func TestAMixedSwarmNamesItsClients(t *testing.T) {
	f, _ := mixedField(t)
	if a := f.offline("tester"); a.Client != "claude" {
		t.Errorf("before the first turn, and without a daemon, the client is %q, want claude", a.Client)
	}
	f.start()
	if a := f.status("coder"); a.Client != "scripted" || a.Model != "" {
		t.Errorf("before the first turn the client is %q with the model %q, want scripted", a.Client, a.Model)
	}
	failed := f.send("coder", "@cost 0.25\n@fail no luck")
	f.until("it has failed", func() bool { return len(f.ledgerOf("coder")) > 0 })
	for agent, want := range map[string]string{"coder": "scripted " + runnertest.Version, "tester": "claude " + runnertest.Version} {
		id := f.send(agent, "hello")
		f.answer(id)
		f.untilState(agent, swarm.Idle)
		if r := f.receipt(agent, id); r.Client != want || r.Model != "scripted-1" {
			t.Errorf("the receipt of %s has the client %q and the model %q, want %q", agent, r.Client, r.Model, want)
		}
		for _, l := range f.ledgerOf(agent) {
			if l.Client != want || l.Model != "scripted-1" {
				t.Errorf("a line of the ledger about %s, %s, has the client %q and the model %q, want %q", agent, l.Outcome, l.Client, l.Model, want)
			}
		}
		if a := f.status(agent); a.Client != want || a.Model != "scripted-1" {
			t.Errorf("the status of %s has the client %q and the model %q, want %q", agent, a.Client, a.Model, want)
		}
		if st, err := f.daemon.Status(agent); err != nil || !st.Mixed {
			t.Errorf("the status of %s alone says that the swarm is mixed: %t, %v", agent, st.Mixed, err)
		}
	}
	if lines := f.ledgerOf("coder"); !slices.ContainsFunc(lines, func(l journal.LedgerLine) bool { return l.Message == failed && l.Outcome == "failed" }) {
		t.Errorf("no attempt failed: %+v", lines)
	}
	f.halt()
	if a := f.offline("tester"); a.Client != "claude "+runnertest.Version {
		t.Errorf("without a daemon the client is %q, want that of the last turn", a.Client)
	}
}

// After a reload that gives an agent another kind of client, the status does not mention
// the old client, with or without a daemon. A turn that is running during the reload
// keeps its client.
func TestAReloadReplacesTheClient(t *testing.T) {
	f, other := mixedField(t)
	let := make(chan struct{})
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Say("begun"), runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
			select {
			case <-let:
			case <-ctx.Done():
			}
			return nil
		})}
	}
	f.start()
	id := f.send("coder", "hello")
	const old = "scripted " + runnertest.Version
	f.until("its client has told its version", func() bool { return f.status("coder").Client == old })
	f.plan.Agents = slices.Clone(f.plan.Agents)
	f.plan.Agents[0].Backend = "claude"
	if _, err := f.daemon.Reload(f.plan); err != nil {
		t.Fatal(err)
	}
	if a := f.status("coder"); a.Client != old || a.Model == "" {
		t.Errorf("while its turn runs the client is %q with the model %q, want %q", a.Client, a.Model, old)
	}
	close(let)
	if r := f.receipt("coder", id); r.Client != old || r.Backend != "scripted" {
		t.Errorf("its receipt names the client %q of the backend %q, want %q", r.Client, r.Backend, old)
	}
	replaced := func(when string, a swarm.AgentStatus) {
		t.Helper()
		if a.Client != "claude" || a.Model != "" || a.Session != "" || a.Context != (journal.Context{}) {
			t.Errorf("%s the client is %q with the model %q, the session %q and the context %+v, want only claude", when, a.Client, a.Model, a.Session, a.Context)
		}
	}
	replaced("after the turn", f.untilState("coder", swarm.Idle))
	if st, err := f.daemon.Status(); err != nil || st.Mixed {
		t.Errorf("the swarm is mixed: %t, %v", st.Mixed, err)
	}
	f.halt()
	replaced("without a daemon", f.offline("coder"))
	f.start()
	replaced("after a restart", f.status("coder"))
	f.answer(f.send("coder", "hello again"))
	if len(other.Runs()) == 0 {
		t.Fatal("the new client ran no turn")
	}
	if a := f.untilState("coder", swarm.Idle); a.Client != "claude "+runnertest.Version || a.Model == "" {
		t.Errorf("after its first turn the new client is %q with the model %q", a.Client, a.Model)
	}
}
