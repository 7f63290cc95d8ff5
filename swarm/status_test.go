package swarm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/runnertest"
)

// offline is the status of an agent while no daemon runs.
func (f *field) offline(name string) swarm.AgentStatus {
	f.t.Helper()
	st, err := swarm.Offline(swarm.HomeOf(f.dir), f.store, f.plan, f.dir, time.Now())
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

// The count of turns goes on over restarts, with and without a daemon, and so do failed
// ones; while an agent has one message after the other, the time is that of the turn.
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

func TestAWorkingAgentHasTheTimeOfItsTurn(t *testing.T) {
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
}

// What was dropped by hand is seen before it is taken in, with a daemon and without.
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
