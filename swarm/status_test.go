package swarm_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// offline returns the status of an agent while no daemon is running.
func (f *field) offline(name string) swarm.AgentStatus {
	f.t.Helper()
	st, err := swarm.Offline(journal.HomeOf(f.dir), f.store, f.plan, f.dir, time.Now())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, a := range st.Agents {
		if a.Name == name {
			return a
		}
	}
	f.t.Fatalf("no agent %s", name)
	return swarm.AgentStatus{}
}

// The count of an agent's turns continues across restarts. The status shows it with and
// without a daemon.
func TestTurnsAreCountedOverRestarts(t *testing.T) {
	f := newField(t, "coder", "other")
	f.start()
	f.answer(f.send("coder", "one"))
	f.untilState("coder", swarm.Idle)
	f.halt()
	if n := f.offline("coder").TurnCount; n != 1 {
		t.Errorf("without a daemon %d turns, want 1", n)
	}
	f.start()
	if n, other := f.status("coder").TurnCount, f.status("other").TurnCount; n != 1 || other != 0 {
		t.Errorf("after a restart %d and %d turns, want 1 and 0", n, other)
	}
	f.answer(f.send("coder", "two"))
	f.until("it counts on", func() bool { return f.status("coder").TurnCount == 2 })
}

// The status says when the current turn began, even if that turn immediately followed
// another one.
func TestAWorkingAgentHasTheTimeOfItsTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		hold := make(chan struct{})
		f.backend.Script = func(runner.Turn) []runnertest.Step {
			return []runnertest.Step{runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
				select {
				case <-hold:
				case <-ctx.Done():
				}
				return nil
			}), runnertest.Say("done")}
		}
		first, second := f.send("coder", "one"), f.send("coder", "two")
		f.start()
		works := func(id string) swarm.AgentStatus {
			var st swarm.AgentStatus
			f.until("it works on "+id, func() bool {
				st = f.status("coder")
				return st.State == swarm.Working && st.Message != nil && st.Message.ID == id
			})
			return st
		}
		works(first)
		time.Sleep(20 * time.Millisecond)
		hold <- struct{}{}
		if st := works(second); !st.Since.Equal(st.Message.Since) {
			t.Errorf("it works since %v, and on this message since %v", st.Since, st.Message.Since)
		}
		close(hold)
		f.untilState("coder", swarm.Idle)
	})
}

// The status shows dropped files before they are delivered, with and without a daemon.
func TestDropsAreCountedUntilTheyAreTakenIn(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Debounce = time.Hour
	f.start()
	box := filepath.Join(f.store.Dir(), "coder")
	for _, name := range []string{"one.md", "two.md", ".hidden", "half.part"} {
		if err := os.WriteFile(filepath.Join(box, name), []byte("work\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if st := f.status("coder"); st.Drops != 2 || st.Waiting.Total() != 0 {
		t.Errorf("%d drops and %d messages wait, want 2 and none", st.Drops, st.Waiting.Total())
	}
	f.halt()
	if n := f.offline("coder").Drops; n != 2 {
		t.Errorf("without a daemon %d drops, want 2", n)
	}
	f.plan.Debounce = time.Millisecond
	f.start()
	f.until("they are taken in", func() bool { return f.status("coder").Drops == 0 && len(f.files("coder", "done")) == 4 })
}

// An agent that is waiting for an answer has the state "asking". The status shows when the
// wait began, whom the agent asked, and what to do.
func TestAnAgentThatWaitsForAnAnswerIsAsking(t *testing.T) {
	f := newField(t, "coder")
	next := make(chan struct{})
	asked := time.Now().Add(-time.Minute)
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
			who, err := f.callerIn(turn)
			if err != nil {
				return err
			}
			lead := who.Asks(journal.Asked{ID: "questionqu", Of: dropbox.Lead, Text: "Delete 47 files. Proceed?"}, time.Hour)
			other := who.Asks(journal.Asked{ID: "anotherone", Of: "#project-x", Mailbox: "irc", Text: "Which port?"}, time.Hour)
			for _, wait := range []*journal.Waiting{lead, other} {
				select {
				case <-next:
				case <-ctx.Done():
				}
				wait.End("")
			}
			select {
			case <-next:
			case <-ctx.Done():
			}
			return nil
		}), runnertest.Say("done")}
	}
	f.start()
	id := f.send("coder", "work")
	st := f.untilState("coder", swarm.Asking)
	if !strings.HasPrefix(st.Why, "asks lead in questionqu, and waits until ") || !strings.HasSuffix(st.Why, ": Delete 47 files. Proceed?") || st.Next != `claude-swarm reply questionqu "…"` {
		t.Errorf("why %q, next %q", st.Why, st.Next)
	}
	if !st.Since.After(asked) || st.Since.Before(st.Message.Since) || !st.Running || st.Activity != "working" || st.Message.ID != id {
		t.Errorf("since %v, running %v, %s, message %+v", st.Since, st.Running, st.Activity, st.Message)
	}
	next <- struct{}{}
	f.until("it asks the other", func() bool { st = f.status("coder"); return strings.Contains(st.Why, "#project-x") })
	if st.State != swarm.Asking || st.Next != `claude-swarm reply anotherone "…"` || st.Question == nil || st.Question.Text != "Which port?" {
		t.Errorf("%s, next %q, question %+v", st.State, st.Next, st.Question)
	}
	next <- struct{}{}
	f.untilState("coder", swarm.Working)
	next <- struct{}{}
	if st := f.untilState("coder", swarm.Idle); st.Why != "" {
		t.Errorf("idle, why %q", st.Why)
	}
}

// After an update, the new command line talks to the old daemon until the daemon is
// restarted. The old daemon reports problems as plain strings.
func TestTheStatusOfAnOlderDaemonIsRead(t *testing.T) {
	var st swarm.Status
	if err := json.Unmarshal([]byte(`{"v":1,"trouble":["the disk is full",{"why":"it was moved","next":"claude-swarm restart"}]}`), &st); err != nil {
		t.Fatal(err)
	}
	want := []swarm.Problem{{Why: "the disk is full"}, {Why: "it was moved", Next: "claude-swarm restart"}}
	if !slices.Equal(st.Trouble, want) {
		t.Errorf("trouble is %v, want %v", st.Trouble, want)
	}
}

// Without a daemon, the status names the work that was cut off by its subject.
func TestTheStatusOfWorkThatWasCutOff(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "paint it", subject("Paint the fence"))
	writeRecord(f, claim(f, "coder", id), id, runner.Process{PID: 1 << 22, Start: 1})
	if got, want := f.offline("coder").Why, `"Paint the fence" (`+id+") was started before the daemon exited"; got != want {
		t.Errorf("the status says %q, want %q", got, want)
	}
}
