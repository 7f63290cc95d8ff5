package swarm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An agent that is paused until it gets an answer continues when the answer arrives or
// when somebody resumes it. Answers without a proof, or from other senders, do not end
// the pause. The pause survives a restart.
func TestAPauseForAnAnswer(t *testing.T) {
	for name, end := range map[string]func(f *field, q string){
		"an answer": func(f *field, q string) {
			f.send("coder", "Tabs.", typed(dropbox.Result), func(m *dropbox.Message) { m.ReplyTo = q })
		},
		"an answer on IRC": func(f *field, q string) {
			f.send("coder", "Tabs.", typed(dropbox.Result), from("irc"), func(m *dropbox.Message) { m.ReplyTo = q })
		},
		"resume": func(f *field, _ string) {
			if err := f.daemon.Resume("coder", dropbox.Lead); err != nil {
				f.t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder", "reviewer")
				tokens, err := journal.HomeOf(f.dir).Tokens(dropbox.Lead, "irc")
				if err != nil {
					t.Fatal(err)
				}
				f.tokens = tokens
				f.start()
				const q = "k7f3q9m2xd"
				order := swarm.PauseOrder{By: "coder", Why: "lead did not answer " + q + " within 5m0s: Tabs or spaces?", Questions: []journal.PauseQuestion{{ID: q, Of: dropbox.Lead}}}
				if err := f.daemon.Pause("coder", order); err != nil {
					t.Fatal(err)
				}
				st := f.untilState("coder", swarm.Paused)
				if want := "claude-swarm reply " + q + ` "…", or claude-swarm resume coder`; st.Next != want || !strings.HasPrefix(st.Why, order.Why) {
					t.Errorf("status %q %q, want %q", st.Why, st.Next, want)
				}
				reply := func(m *dropbox.Message) { m.Type, m.ReplyTo = dropbox.Result, q }
				f.send("coder", "Spaces!", from("reviewer"), reply)
				forged := &dropbox.Message{From: dropbox.Lead, Body: []byte("Spaces!")}
				reply(forged)
				if _, err := f.store.Deliver("coder", forged); err != nil {
					t.Fatal(err)
				}
				f.halt()
				f.start()
				time.Sleep(time.Second) // the daemon looks at both answers
				if st := f.untilState("coder", swarm.Paused); st.Waiting.Total() != 2 {
					t.Errorf("%d messages wait, want 2", st.Waiting.Total())
				}
				end(f, q)
				f.untilState("coder", swarm.Idle)
				if n := len(f.backend.Runs()); n < 2 {
					t.Errorf("%d turns, want the mail that waited", n)
				}
			})
		})
	}
}

// When an agent aborts its turn because it got no answer, the bounce to the sender of the
// message gives this reason.
func TestAnAbortSaysWhy(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(ctx context.Context, _ runner.Turn) error { <-ctx.Done(); return nil })}
	}
	f.start()
	id := f.send("coder", "work")
	f.untilState("coder", swarm.Working)
	if _, err := f.daemon.Abort(t.Context(), "coder", "coder", "lead did not answer k7f3q9m2xd within 5m0s: Tabs?"); err != nil {
		t.Fatal(err)
	}
	if told := string(f.answer(id).Body); !strings.Contains(told, "aborted by coder: lead did not answer k7f3q9m2xd within 5m0s: Tabs?") {
		t.Errorf("the sender was told %q", told)
	}
}

// A question to several recipients begins no turn once one of them has answered it.
func TestAnAnsweredQuestionBeginsNoTurn(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	home := journal.HomeOf(f.dir)
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	ask := func(text string) string {
		return f.send("reviewer", text, typed(dropbox.Question), from("coder"), func(m *dropbox.Message) { m.Key, m.Turn = "first:"+text, "k7f3q9m2xd-1" })
	}
	over, open := ask("Tabs?"), ask("Spaces?")
	asks := home.Asks("k7f3q9m2xd-1")
	for id, why := range map[string]string{over: "lead has already answered", open: ""} {
		if err := asks.Begin(journal.Asked{ID: id, Of: "reviewer"}); err != nil {
			t.Fatal(err)
		}
		if err := asks.End(id, why); err != nil {
			t.Fatal(err)
		}
	}
	f.start()
	f.receipt("reviewer", open)
	f.untilState("reviewer", swarm.Idle)
	f.nothingLeft("reviewer")
	f.untilState("coder", swarm.Idle)
	for _, m := range f.mail("coder") {
		if m.ReplyTo == over {
			t.Errorf("the asker is told %q", m.Body)
		}
	}
	if st := must(f.daemon.Status()); st.Gate.Refused.Today != 0 {
		t.Errorf("%d messages are refused", st.Gate.Refused.Today)
	}
	if got := f.bodies(); len(got) < 1 || strings.Contains(strings.Join(got, "\n"), "Tabs?") {
		t.Errorf("turns for %q, want Spaces? alone", got)
	}
}
