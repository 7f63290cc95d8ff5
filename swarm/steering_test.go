package swarm_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An urgent message reaches the running turn, is answered with the turn's result, and gets
// its own receipt. A non-urgent message waits.
func TestAnUrgentMessageReachesTheRunningTurn(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if strings.Contains(turn.Prompt, "the long task") {
			return []runnertest.Step{runnertest.TakeIn(), runnertest.Say("did both")}
		}
		return []runnertest.Step{runnertest.Say("did the other")}
	}
	f.start()
	task := f.send("coder", "the long task")
	f.untilState("coder", swarm.Working)
	other := f.send("coder", "another task")
	now := f.send("coder", "stop touching main.go", urgent)
	for _, id := range []string{task, now} {
		if m := f.answer(id); !strings.Contains(string(m.Body), "did both") {
			t.Errorf("answer to %s = %q", id, m.Body)
		}
	}
	f.answer(other)
	if n := len(f.backend.Runs()); n != 2 {
		t.Errorf("%d turns, want 2: the urgent message had none of its own", n)
	}
	r := f.receipt("coder", now)
	if r.Into != task || r.Turn != f.receipt("coder", task).Turn || r.CostUSD != 0 {
		t.Errorf("receipt = %+v", r)
	}
	if s := f.receipt("coder", task).Steered; !slices.Equal(s, []string{now}) {
		t.Errorf("the turn's receipt names %v", s)
	}
	f.until("all is filed", func() bool { return len(f.files("coder", "new"))+len(f.files("coder", "cur")) == 0 })
}

// A client that does not read mail during a turn gets no urgent messages during that
// turn. The status says that the message is waiting, and the message gets the next turn.
func TestAnUrgentMessageWaitsForAClientThatReadsNone(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Quiet = true
	ready, goOn := make(chan struct{}), make(chan struct{})
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if !strings.Contains(turn.Prompt, "the long task") {
			return []runnertest.Step{runnertest.Say("did the other")}
		}
		return []runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			close(ready)
			<-goOn
			if turn.Steering != nil {
				t.Error("the client could get mail in mid-turn")
			}
			return nil
		}), runnertest.Say("did one")}
	}
	f.start()
	task := f.send("coder", "the long task")
	<-ready
	now := f.send("coder", "stop touching main.go", urgent)
	f.until("the message waits", func() bool { return f.status("coder").Waiting.Urgent == 1 })
	st := f.status("coder")
	for id, want := range map[string]string{now: "the client of coder cannot read mail during a turn: it will read this after its turn", task: ""} {
		if said := view.ReadsLater(st, id); said != want {
			t.Errorf("what the sender of %s hears is %q, want %q", id, said, want)
		}
	}
	close(goOn)
	for id, want := range map[string]string{task: "did one", now: "did the other"} {
		if m := f.answer(id); !strings.Contains(string(m.Body), want) {
			t.Errorf("answer to %s = %q", id, m.Body)
		}
	}
	f.untilState("coder", swarm.Idle)
	if st := f.status("coder"); st.UrgentWaits {
		t.Error("an idle agent lets urgent mail wait")
	}
}

// A message that arrives too late in a turn, or arrives in a turn that fails, gets its
// own turn.
func TestWhatTheTurnDidNotTakeInWaits(t *testing.T) {
	for name, end := range map[string][]runnertest.Step{
		"the turn failed":    {runnertest.TakeIn(), runnertest.Fail("no luck")},
		"it came too late":   {runnertest.Say("done before")},
		"the client is gone": {runnertest.TakeIn(), runnertest.NoResult()},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			first, sent := true, make(chan struct{})
			f.backend.Script = func(turn runner.Turn) []runnertest.Step {
				if !strings.Contains(turn.Prompt, "the long task") || !first {
					return []runnertest.Step{runnertest.Say("did it")}
				}
				first = false
				return append([]runnertest.Step{waitFor(sent)}, end...)
			}
			f.start()
			task := f.send("coder", "the long task")
			f.untilState("coder", swarm.Working)
			now := f.send("coder", "be quick", urgent)
			close(sent)
			f.answer(now)
			f.answer(task)
			if r := f.receipt("coder", now); r.Into != "" {
				t.Errorf("receipt = %+v, want one of a separate turn", r)
			}
		})
	}
}

// A daemon dies while its client is working. If the client received an urgent message,
// the next daemon files that message with the turn. Otherwise, the message gets its own
// turn.
func TestSteeredMessagesLiveThroughACrash(t *testing.T) {
	const uuid = "00000000-0000-5000-8000-00000000000a"
	for name, tookIn := range map[string]bool{"taken in": true, "not taken in": false} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			task := f.send("coder", "the long task")
			now := f.send("coder", "be quick", urgent)
			turn := claim(f, "coder", task)
			claim(f, "coder", now)
			self, err := runner.Identify(os.Getpid())
			if err != nil {
				t.Fatal(err)
			}
			writeRecord(f, turn, task, self)
			home := journal.HomeOf(f.dir)
			line := `{"id":"` + now + `","uuid":"` + uuid + `"}` + "\n" + `{"id":"cut`
			if err := os.WriteFile(filepath.Join(home.Turns(), turn+".steered"), []byte(line), 0o600); err != nil {
				t.Fatal(err)
			}
			f.backend.Outlive = func(runner.Turn, runner.Process) []runnertest.Step {
				steps := []runnertest.Step{runnertest.Say("did what I had")}
				if tookIn {
					steps = append([]runnertest.Step{runnertest.TookIn(uuid)}, steps...)
				}
				return steps
			}
			f.start()
			f.answer(task)
			f.answer(now)
			r := f.receipt("coder", now)
			runs := len(f.backend.Runs())
			if tookIn && (r.Into != task || runs != 1) || !tookIn && (r.Into != "" || runs != 2) {
				t.Errorf("receipt = %+v after %d turns", r, runs)
			}
		})
	}
}
