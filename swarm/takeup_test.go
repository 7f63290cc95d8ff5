package swarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A message that disappears while the daemon takes it up is ignored, and the agent works
// on the other messages.
func TestAMessageThatGoesWhileItIsTakenUp(t *testing.T) {
	f := newField(t, "coder")
	stays := f.send("coder", "work")
	goes := f.send("coder", "other work")
	claim(f, "coder", stays)
	claim(f, "coder", goes)
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		if strings.HasPrefix(st.To, "coder/new/") && strings.Contains(st.To, stays) {
			gone, err := filepath.Glob(filepath.Join(f.store.Dir(), "coder/cur/*"+goes+"*"))
			if err != nil || len(gone) != 1 {
				t.Errorf("cur/ has %v, %v", gone, err)
				return err
			}
			return os.Remove(gone[0])
		}
		return nil
	}})
	f.start()
	f.answer(stays)
	if st := f.untilState("coder", swarm.Idle); st.CircuitOpen {
		t.Errorf("status = %+v", st)
	}
}

// The notes of a failed turn are put back before the turn's message is settled, even if
// the first few attempts to do so fail, because the daemon does not check cur/ later.
func TestTheNotesOfAFailedTurnWaitAgain(t *testing.T) {
	f := newField(t, "coder")
	f.plan.Agents[0].MaxFailures = 1
	note := f.send("coder", "by the way", typed(dropbox.Note))
	id := f.send("coder", "@fail no luck")
	var refused atomic.Int64
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		if strings.HasPrefix(st.Name, "coder/cur/") && strings.Contains(st.Name, note) && refused.Load() < 3 {
			refused.Add(1)
			return syscall.EIO
		}
		return nil
	}})
	f.start()
	f.answer(id)
	f.untilState("coder", swarm.Idle)
	if got := f.files("coder", "cur"); len(got) != 0 || refused.Load() != 3 {
		t.Errorf("after %d refusals cur/ has %v", refused.Load(), got)
	}
	if got := f.files("coder", "new"); len(got) != 1 || !strings.Contains(got[0], note) {
		t.Errorf("new/ = %v, want the note", got)
	}
}

// A client that was waiting for a message when its daemon died is terminated at the next
// start.
func TestAClientThatWaitedForADeadDaemonIsEnded(t *testing.T) {
	f := newField(t, "coder")
	home := journal.HomeOf(f.dir)
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	ended, p := leftover(t, "aaaaaaaaaa-1")
	if err := journal.WritePIDFile(home.PIDFile("coder"), p, "aaaaaaaaaa-1"); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.untilClosed("the client has ended", ended)
	f.until("its pid file is gone", func() bool {
		_, err := os.Stat(home.PIDFile("coder"))
		return os.IsNotExist(err)
	})
}

// One unreadable record does not prevent the daemon from ending the other clients that no
// agent takes up.
func TestAnOrphanBesideARecordThatCannotBeRead(t *testing.T) {
	f := newField(t, "coder")
	ended, p := leftover(t, "bbbbbbbbbb-1")
	writeRecord(f, "bbbbbbbbbb-1", "bbbbbbbbbb", p)
	if err := os.WriteFile(filepath.Join(journal.HomeOf(f.dir).Turns(), "aaaaaaaaaa-1.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.untilClosed("the client has ended", ended)
}

// If the window cannot be read, or the record cannot be written, no client starts and no
// failure is counted.
func TestNoClientIsStartedWithoutItsFiles(t *testing.T) {
	for name, c := range map[string]struct {
		spoil, heal func(journal.Home) error
		why         string
	}{
		"window": {
			func(h journal.Home) error { return os.Mkdir(filepath.Join(h.Dir(), "window/coder"), 0o700) },
			func(h journal.Home) error { return os.Remove(filepath.Join(h.Dir(), "window/coder")) },
			"window",
		},
		"record": {
			func(h journal.Home) error { return os.Rename(h.Turns(), h.Turns()+".away") },
			func(h journal.Home) error { return os.Rename(h.Turns()+".away", h.Turns()) },
			"turn record",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			home := journal.HomeOf(f.dir)
			f.start()
			if err := c.spoil(home); err != nil {
				t.Fatal(err)
			}
			id := f.send("coder", "work")
			if st := f.untilState("coder", swarm.Backoff); !strings.Contains(st.Why, c.why) {
				t.Errorf("why = %q, want %q in it", st.Why, c.why)
			}
			if n := len(f.backend.Runs()); n != 0 {
				t.Errorf("%d clients were started", n)
			}
			if err := c.heal(home); err != nil {
				t.Fatal(err)
			}
			f.answer(id)
			if r := f.receipt("coder", id); len(r.Attempts) != 1 {
				t.Errorf("attempts = %+v, want one", r.Attempts)
			}
		})
	}
}

// The advice to an agent depends on the tools that the agent actually has.
func TestAdviceKnowsTheTools(t *testing.T) {
	for _, has := range []bool{true, false} {
		f := newField(t, "coder")
		f.plan.Agents[0].Tools = true
		if has {
			f.tools = &runner.Server{Command: "claude-swarm", Args: []string{"mcp"}}
		}
		var mu sync.Mutex
		var asked []bool
		f.advise = func(s swarm.Spec) string {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, s.Tools)
			return ""
		}
		f.start()
		f.answer(f.send("coder", "work"))
		mu.Lock()
		if !slices.Equal(asked, []bool{has}) {
			t.Errorf("with tools %v the advice is asked for %v", has, asked)
		}
		mu.Unlock()
	}
}

// A message that was delivered to a turn that then failed is put back into new/, even if
// the first attempt fails.
func TestWhatWasBroughtToAFailedTurnIsNotForgotten(t *testing.T) {
	f := newField(t, "coder")
	var refused atomic.Bool
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		// The names of urgent messages begin with 0.
		if strings.HasPrefix(st.Name, "coder/cur/0-") && strings.HasPrefix(st.To, "coder/new/") && refused.CompareAndSwap(false, true) {
			return syscall.EIO
		}
		return nil
	}})
	first := true
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if !strings.Contains(turn.Prompt, "the long task") || !first {
			return nil
		}
		first = false
		return []runnertest.Step{runnertest.TakeIn(), runnertest.Fail("no luck")}
	}
	f.start()
	task := f.send("coder", "the long task")
	f.untilState("coder", swarm.Working)
	now := f.send("coder", "stop touching main.go", urgent)
	f.answer(now)
	f.answer(task)
	f.untilState("coder", swarm.Idle)
	f.nothingLeft("coder")
	if !refused.Load() {
		t.Error("the disk refused nothing")
	}
}

// Published work is closed before its message is filed, even if the first attempt to
// close the work fails. Otherwise, the work would never be closed, and would be offered
// again.
func TestAPublicationIsClosedBeforeItsMessageIsFiled(t *testing.T) {
	f := newField(t, "coder")
	f.subscribe("coder", "work")
	var ended, refused atomic.Bool
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		if ended.Load() && strings.HasPrefix(st.Name+st.To, "topics/") && refused.CompareAndSwap(false, true) {
			return syscall.EIO
		}
		return nil
	}})
	claims := f.claims("coder")
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return append(claims(turn), runnertest.Do(func(context.Context, runner.Turn) error {
			ended.Store(true)
			return nil
		}))
	}
	f.start()
	p := f.publish(dropbox.Lead, "work", "fix it")
	f.until("the message is filed", func() bool { return len(f.files("coder", "done")) == 2 && f.status("coder").State == swarm.Idle })
	if _, err := topic.Of(f.store).Find(p.ID); !errors.Is(err, topic.ErrTaken) {
		t.Errorf("the message is filed, and its publication: %v", err)
	}
	if n := len(f.bodies()); n != 1 || !refused.Load() {
		t.Errorf("%d turns, want 1; the disk refused: %v", n, refused.Load())
	}
}
