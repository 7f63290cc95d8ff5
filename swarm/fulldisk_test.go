package swarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// These are the files that cannot be changed while the disk of a test is full.
const (
	mailboxes = "the mailboxes"
	ownFiles  = "the daemon's files"
	ledger    = "the ledger"
	allFiles  = "all files"
)

// TestADiskThatIsFullWhenATurnEnds checks that a turn is settled as it ended once the disk
// has room again, whichever files could not be changed.
func TestADiskThatIsFullWhenATurnEnds(t *testing.T) {
	for _, refused := range []string{mailboxes, ownFiles, ledger, allFiles} {
		for name, c := range map[string]struct {
			last    runnertest.Step                 // ends the client of the first turn
			stall   time.Duration                   // of the client; 0 means never
			order   func(*field) (swarm.Cut, error) // ends the first turn; may be nil
			ledger  []string                        // the outcomes of the message's turns
			in      dropbox.State                   // of the message
			state   swarm.State                     // of the agent
			notices []journal.Word
		}{
			"aborted": {
				last:   runnertest.Hang(),
				order:  func(f *field) (swarm.Cut, error) { return f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "") },
				ledger: []string{"stopped"}, in: dropbox.Dead, state: swarm.Idle,
			},
			"interrupted": {
				last:   runnertest.Hang(),
				order:  func(f *field) (swarm.Cut, error) { return f.daemon.Interrupt(f.t.Context(), "coder", dropbox.Lead, "") },
				ledger: []string{"stopped", "done"}, in: dropbox.Done, state: swarm.Idle, notices: []journal.Word{journal.AgentComplete},
			},
			"stalled": {
				last: runnertest.Hang(), stall: 50 * time.Millisecond,
				ledger: []string{"stalled"}, in: dropbox.Waiting, state: swarm.Backoff, notices: []journal.Word{journal.AgentTimeout},
			},
			"failed": {
				last:   runnertest.Fail("no luck"),
				ledger: []string{"failed"}, in: dropbox.Waiting, state: swarm.Backoff, notices: []journal.Word{journal.AgentError},
			},
			"limited": {
				last:   runnertest.Limited(time.Hour),
				ledger: []string{"limited"}, in: dropbox.Waiting, state: swarm.Limited, notices: []journal.Word{journal.LimitReached},
			},
			"refused": {
				last:   runnertest.Refused("bad key"),
				ledger: []string{"bad-setup"}, in: dropbox.Waiting, state: swarm.Stopped, notices: []journal.Word{journal.AgentError},
			},
			"done": {
				last:   runnertest.Say("did it"),
				ledger: []string{"done"}, in: dropbox.Done, state: swarm.Idle, notices: []journal.Word{journal.AgentComplete},
			},
		} {
			t.Run(name+", "+refused, func(t *testing.T) {
				f := newField(t, "coder")
				f.plan.Agents[0].Client.Stall = c.stall
				f.plan.Agents[0].RetryDelay, f.restart.MaxDelay = time.Hour, time.Hour
				d := f.fullInTheTurn(refused, c.last)
				if c.order != nil {
					if cut, err := c.order(f); err != nil || cut.Message != d.task || cut.State != dropbox.Claimed {
						t.Errorf("the turn was ended: %+v, %v; want the claimed message %s", cut, err, d.task)
					}
				}
				f.until("the agent has met the full disk", func() bool { return strings.Contains(f.status("coder").Why, "no space left") })
				d.full.Store(false)
				f.until("the message is settled", func() bool {
					st := f.status("coder")
					return st.State == c.state && !strings.Contains(st.Why, "no space left") &&
						len(f.ledgerOf("coder")) >= len(c.ledger) && len(f.files("coder", "cur")) == 0
				})
				f.ledgerSays(d.task, c.ledger...)
				if len(f.files("coder", string(c.in))) == 0 {
					t.Errorf("the message is not in %s/", c.in)
				}
				if n := len(f.bodies()); n != len(c.ledger) {
					t.Errorf("%d turns, want %d", n, len(c.ledger))
				}
				var words []journal.Word
				for _, ev := range f.notices() {
					words = append(words, ev.Notice.Word)
				}
				if !slices.Equal(words, c.notices) {
					t.Errorf("notices %v, want %v", words, c.notices)
				}
			})
		}
	}
}

// A turn that ended while the agent's window could not be written is in the window
// afterwards.
func TestTheWindowGetsATurnThatEndedOnAFullDisk(t *testing.T) {
	f := newField(t, "coder")
	window := journal.HomeOf(f.dir).WindowFile("coder")
	folder := filepath.Dir(window)
	d := f.fullInTheTurn(allFiles, runnertest.Do(func(context.Context, runner.Turn) error {
		return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)) // nothing can be written in a file
	}))
	f.until("the agent has met the full disk", func() bool { return strings.Contains(f.status("coder").Why, "no space left") })
	f.must(errors.Join(os.Remove(folder), os.Mkdir(folder, 0o700)))
	d.full.Store(false)
	f.untilState("coder", swarm.Idle)
	f.until("the message is filed", func() bool { return len(f.files("coder", "cur")) == 0 })
	if text, err := os.ReadFile(window); !strings.Contains(string(text), "begun") {
		t.Errorf("the window is %q (%v), and lacks the turn", text, err)
	}
}

// If the message has reached dead/ but the folder cannot be synced, an abort says that it
// is a dead letter.
func TestAnAbortWhoseLastStepFails(t *testing.T) {
	f := newField(t, "coder")
	var bad atomic.Bool
	f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
		if bad.Load() && st.Op == dropbox.OpSyncDir && st.Name == "coder/dead" && len(f.files("coder", "cur")) == 0 {
			return syscall.EIO
		}
		return nil
	}})
	id := f.send("coder", "work\n@hang")
	f.start()
	f.until("it works", func() bool { return f.backend.Running() == 1 && f.status("coder").State == swarm.Working })
	bad.Store(true)
	cut, err := f.daemon.Abort(t.Context(), "coder", dropbox.Lead, "")
	if want := (swarm.Cut{Message: id, State: dropbox.Dead}); err != nil || cut != want {
		t.Errorf("Abort = %+v, %v, want %+v", cut, err, want)
	}
	bad.Store(false)
	f.untilState("coder", swarm.Idle)
}

// The message of a turn that was stopped on a full disk does not wait in cur/ for the end
// of a hold on its agent.
func TestAHeldAgentSettlesItsTurn(t *testing.T) {
	for name, c := range map[string]struct {
		order func(*field) (swarm.Cut, error)
		in    dropbox.State
	}{
		"stopped": {func(f *field) (swarm.Cut, error) {
			cut, err := f.daemon.StopAgent(f.t.Context(), "coder", dropbox.Lead, true)
			return *cut, err
		}, dropbox.Waiting},
		"paused and aborted": {func(f *field) (swarm.Cut, error) {
			if err := f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead}); err != nil {
				return swarm.Cut{}, err
			}
			return f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "")
		}, dropbox.Dead},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, "coder")
			d := f.fullInTheTurn(mailboxes, runnertest.Hang())
			if cut, err := c.order(f); err != nil || cut.State != dropbox.Claimed {
				t.Errorf("the turn was ended: %+v, %v; want a claimed message", cut, err)
			}
			d.full.Store(false)
			f.until("the message is settled", func() bool { return len(f.files("coder", "cur")) == 0 })
			if len(f.files("coder", string(c.in))) == 0 {
				t.Errorf("the message is not in %s/", c.in)
			}
		})
	}
}

// The end of a turn is reported once, even if it has to be filed many times.
func TestAnEndingIsReportedOnce(t *testing.T) {
	f := newField(t, "coder")
	d := f.fullInTheTurn(ownFiles, runnertest.Hang())
	if _, err := f.daemon.Abort(t.Context(), "coder", dropbox.Lead, ""); err != nil {
		t.Fatal(err)
	}
	f.until("it was tried again", func() bool { return strings.Count(f.log.String(), "mailbox could not be used") > 2 })
	d.full.Store(false)
	f.answer(d.task)
	if n := strings.Count(f.log.String(), `msg="turn ended"`); n != 1 {
		t.Errorf("the end of the turn is logged %d times", n)
	}
}

// A fullDisk is the disk of a test.
type fullDisk struct {
	full atomic.Bool
	task string // id of the task in whose first turn the disk becomes full
}

// fullInTheTurn starts the daemon, and makes the disk full during the first turn of a task.
// While the disk is full, the given files cannot be changed. The client of the turn takes
// the last step then, and those of later turns succeed.
func (f *field) fullInTheTurn(refused string, last runnertest.Step) *fullDisk {
	f.t.Helper()
	d := &fullDisk{}
	refuse := func(these bool) error {
		if these && d.full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}
	f.reopen(dropbox.Options{Step: func(dropbox.Step) error { return refuse(refused == mailboxes || refused == allFiles) }})
	ledgerFile := journal.HomeOf(f.dir).Ledger()
	f.own = durable.Files{Step: func(st durable.Step) error {
		return refuse(refused == ownFiles || refused == allFiles || refused == ledger && st.Path == ledgerFile)
	}}
	var again atomic.Bool
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		if again.Swap(true) {
			return []runnertest.Step{runnertest.Say("did it")}
		}
		return []runnertest.Step{runnertest.Say("begun"), runnertest.Do(func(context.Context, runner.Turn) error {
			d.full.Store(true)
			return nil
		}), last}
	}
	d.task = f.send("coder", "work")
	f.start()
	f.until("the disk is full", d.full.Load)
	return d
}
