package swarm_test

import (
	"context"
	"slices"
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

// TestADiskThatIsFullWhenATurnEnds checks that a turn that the daemon ended is settled in
// the same way once the disk has room again, whichever files could not be written.
func TestADiskThatIsFullWhenATurnEnds(t *testing.T) {
	const mailboxes, records = "the mailboxes", "the daemon's files"
	for _, refused := range []string{mailboxes, records, "all files"} {
		for name, c := range map[string]struct {
			end     func(f *field) (swarm.Cut, error) // ends the turn; nil means that the client stalls
			ledger  []string                          // the outcomes of the message's turns
			dead    bool                              // the message is given up
			notices []journal.Word
		}{
			"aborted": {
				end:    func(f *field) (swarm.Cut, error) { return f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "") },
				ledger: []string{"stopped"}, dead: true,
			},
			"interrupted": {
				end:    func(f *field) (swarm.Cut, error) { return f.daemon.Interrupt(f.t.Context(), "coder", dropbox.Lead, "") },
				ledger: []string{"stopped", "done"}, notices: []journal.Word{journal.AgentComplete},
			},
			"stalled": {
				ledger: []string{"stalled", "done"}, notices: []journal.Word{journal.AgentTimeout, journal.AgentComplete},
			},
		} {
			t.Run(name+", "+refused, func(t *testing.T) {
				f := newField(t, "coder")
				if c.end == nil {
					f.plan.Agents[0].Client.Stall = 50 * time.Millisecond
				}
				var full atomic.Bool
				id := f.fullInTheTurn(&full, refused != records, refused != mailboxes)
				if c.end != nil {
					if cut, err := c.end(f); err != nil || cut.Message != id || cut.State != dropbox.Claimed {
						t.Errorf("the turn was ended: %+v, %v; want a claimed message %s", cut, err, id)
					}
				}
				f.untilState("coder", swarm.Backoff)
				full.Store(false)
				f.answer(id)
				f.until("the message is filed", func() bool { return len(f.files("coder", "cur")) == 0 })
				f.ledgerSays(id, c.ledger...)
				if dead := len(f.files("coder", "dead")) > 0; dead != c.dead {
					t.Errorf("the message is a dead letter: %t, want %t", dead, c.dead)
				}
				if n := len(f.backend.Runs()); n != len(c.ledger) {
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

// fullInTheTurn starts the daemon, and makes the disk full during the first turn of a
// task, whose client then hangs. While full is set, no mailbox and none of the daemon's own
// files can be changed, as the two parameters say. The result is the id of the task.
func (f *field) fullInTheTurn(full *atomic.Bool, mailboxes, records bool) (id string) {
	f.t.Helper()
	refuse := func(these bool) error {
		if these && full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}
	f.reopen(dropbox.Options{Step: func(dropbox.Step) error { return refuse(mailboxes) }})
	f.own = durable.Files{Step: func(durable.Step) error { return refuse(records) }}
	var again atomic.Bool
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		if again.Swap(true) {
			return []runnertest.Step{runnertest.Say("did it")}
		}
		return []runnertest.Step{runnertest.Say("begun"), runnertest.Do(func(context.Context, runner.Turn) error {
			full.Store(true)
			return nil
		}), runnertest.Hang()}
	}
	id = f.send("coder", "work")
	f.start()
	f.until("the disk is full", full.Load)
	return id
}
