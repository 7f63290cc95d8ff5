package swarm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// repeats returns steps in which the client makes the same failing call n times, one a
// second, as long as the turn may go on.
func repeats(n int) (steps []runnertest.Step) {
	for i := range n {
		id := fmt.Sprint("t", i)
		steps = append(steps, called(id),
			runnertest.Emit(streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id, Text: "no credentials", Failed: true}}}),
			pause(time.Second))
	}
	return steps
}

// pause returns a step that waits, unless the turn has to end.
func pause(d time.Duration) runnertest.Step {
	return runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return ctx.Err()
	})
}

// loops makes coder repeat one call in the turns on "the long task", and supervises it.
func (f *field) loops(after int) {
	f.plan.Supervisor = &swarm.Supervision{Settings: supervisor.Settings{Window: 20, Interval: 5, Threshold: 3, Rules: supervisor.Rules{SameCall: 3}, InterruptAfter: after}}
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if !strings.Contains(turn.Prompt, "the long task") {
			return []runnertest.Step{runnertest.Say("did it")}
		}
		return append(repeats(300), runnertest.Say("gave up"))
	}
}

// The turn of a stuck agent is interrupted after ten further steps. The message waits, no
// failure counts, the session stays, the question stands, and the pause says the true
// number of repetitions. Also tried: no limit (the turn goes on to its end), an agent that
// takes no more steps (two minutes), a person who pauses or resumes it in time.
func TestTheTurnOfAStuckAgentIsInterrupted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.loops(10)
		f.start()
		task := f.send("coder", "the long task")
		other := f.send("coder", "another")
		st := f.untilState("coder", swarm.Paused)
		if want := "stuck: Retried same approach 15 times"; st.Why != want || !strings.HasPrefix(st.Next, "claude-swarm resume coder, ") {
			t.Errorf("status = %q, %q, want %q", st.Why, st.Next, want)
		}
		runs := f.backend.Runs()
		if len(runs) != 1 || runs[0].Outcome.End != runner.Stopped {
			t.Fatalf("%d turns, the first ended %+v", len(runs), runs[0].Outcome)
		}
		if n := f.daemon.Failures("coder"); n != 0 {
			t.Errorf("%d failures count", n)
		}
		if f.stateOf(task) != dropbox.Waiting || f.stateOf(other) != dropbox.Waiting {
			t.Error("the messages do not wait")
		}
		lines := f.ledgerOf("coder")
		if len(lines) != 1 || lines[0].Outcome != string(runner.Stopped) || lines[0].Reason != "interrupted: stuck: Retried same approach 15 times" {
			t.Errorf("ledger: %+v", lines)
		}
		open := f.questions()
		if len(open) != 1 || !strings.Contains(string(open[0].Body), "interrupted after 10 more steps, or after 2 min; the session stays, and the message waits") {
			t.Fatalf("questions: %v", open)
		}
		f.must(f.daemon.Resume("coder", dropbox.Lead))
		f.until("it goes on in the same session", func() bool { return len(f.backend.Runs()) == 2 })
		if next := f.backend.Runs()[1].Turn; next.Session.ID != runs[0].Turn.Session.ID || next.Session.How != runner.Resume {
			t.Errorf("the next turn has the session %+v, the first had %+v", next.Session, runs[0].Turn.Session)
		}
		f.until("it is stuck again", func() bool { return f.status("coder").State == swarm.Paused })
		if st, want := f.status("coder"), "stuck: Retried same approach 15 times since it was resumed, 30 times in all"; st.Why != want {
			t.Errorf("status = %q, want %q", st.Why, want)
		}
	})
}

// While the turn of a stuck agent goes on, the status says so with the current number, what
// the turn has done and cost, and names abort first, because nothing else ends the turn at once.
func TestTheStatusOfAStuckTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.loops(10)
		f.backend.Script = func(runner.Turn) []runnertest.Step {
			return slices.Concat([]runnertest.Step{runnertest.Cost(0.42)}, repeats(300))
		}
		f.start()
		if st := f.status("coder"); st.Turn != nil {
			t.Errorf("an idle agent has the turn %+v", st.Turn)
		}
		f.send("coder", "the long task")
		var seen []string
		f.until("the turn is over", func() bool {
			st := f.status("coder")
			if st.State == swarm.Working && st.Why != "" && !slices.Contains(seen, st.Why) {
				seen = append(seen, st.Why)
				if st.Turn == nil || st.Turn.Steps < 5 || st.Turn.CostUSD == nil || *st.Turn.CostUSD != 0.42 {
					t.Errorf("the turn so far: %+v", st.Turn)
				}
				if want := "claude-swarm abort coder, or claude-swarm resume coder, if it should continue"; st.Next != want {
					t.Errorf("next = %q, want %q", st.Next, want)
				}
			}
			return st.State == swarm.Paused
		})
		if len(seen) < 5 || seen[0] != "stuck: Retried same approach 5 times; this turn is interrupted after 10 steps or 2 min" || !strings.HasPrefix(seen[4], "stuck: Retried same approach 9 times;") {
			t.Errorf("status while it went on: %q", seen)
		}
	})
}

// An agent that takes no more steps is interrupted after two minutes.
func TestAStuckTurnThatTakesNoStep(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.loops(10)
		f.backend.Script = func(runner.Turn) []runnertest.Step {
			return append(repeats(5), called("last"), runnertest.Hang())
		}
		f.start()
		began := time.Now()
		task := f.send("coder", "the long task")
		f.until("the turn is over", func() bool { return f.status("coder").State == swarm.Paused })
		if took := time.Since(began); took < 2*time.Minute || took > 2*time.Minute+20*time.Second {
			t.Errorf("interrupted after %v, want two minutes", took)
		}
		if f.stateOf(task) != dropbox.Waiting {
			t.Error("the message does not wait")
		}
	})
}

// A person's decision before the interrupt applies: after resume and pause the turn goes on,
// and an abort gives the message up, even if the interrupt came first.
func TestADecisionBeforeTheInterrupt(t *testing.T) {
	for how, c := range map[string]struct {
		after int // interrupt_after
		order func(f *field) error
		want  dropbox.State // of the message in the end
		end   runner.End    // of the first turn
	}{
		"none, and no limit": {0, func(*field) error { return nil }, dropbox.Done, runner.Done},
		"pause":              {10, func(f *field) error { return f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead}) }, dropbox.Done, runner.Done},
		"abort":              {10, func(f *field) error { _, err := f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, ""); return err }, dropbox.Dead, runner.Stopped},
		"abort, too late": {10, func(f *field) error {
			f.daemon.Overrun("coder")
			_, err := f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "")
			return err
		}, dropbox.Dead, runner.Stopped},
		"none": {10, func(*field) error { return nil }, dropbox.Waiting, runner.Stopped},
	} {
		t.Run(how, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder")
				f.loops(c.after)
				decided, ordered := false, make(chan error, 1)
				f.backend.Script = func(runner.Turn) []runnertest.Step {
					return append(append(repeats(6), runnertest.Do(func(context.Context, runner.Turn) error {
						if !decided {
							decided = true
							go func() { ordered <- c.order(f) }() // an abort waits for the end of the turn
							time.Sleep(time.Second)
						}
						return nil
					})), append(repeats(30), runnertest.Say("gave up"))...)
				}
				f.start()
				task := f.send("coder", "the long task")
				f.until("the turn has ended", func() bool {
					runs := f.backend.Runs()
					return len(runs) == 1 && !runs[0].Ended.IsZero() && f.status("coder").State != swarm.Working
				})
				f.must(<-ordered)
				if got := f.backend.Runs()[0].Outcome.End; got != c.end {
					t.Errorf("the turn ended %s, want %s", got, c.end)
				}
				if got := f.stateOf(task); got != c.want {
					t.Errorf("the message is %s, want %s", got, c.want)
				}
			})
		})
	}
}

// stateOf returns the state of a message.
func (f *field) stateOf(id string) dropbox.State {
	f.t.Helper()
	found, err := f.store.Find(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return found.State
}
