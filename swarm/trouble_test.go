package swarm_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// troubled reports whether the status contains a problem whose reason contains part.
func (f *field) troubled(part string) bool {
	f.t.Helper()
	st, err := f.daemon.Status()
	if err != nil {
		f.t.Fatal(err)
	}
	return slices.ContainsFunc(st.Trouble, func(p swarm.Problem) bool { return strings.Contains(p.Why, part) })
}

// The status reports a problem with the daemon's files until the files can be written
// again. A deleted folder is recreated.
func TestAComplaintAboutFilesGoes(t *testing.T) {
	f := newField(t, "coder")
	f.sweep = time.Hour
	f.start()
	pids := filepath.Join(journal.HomeOf(f.dir).Dir(), "pids")
	if err := os.Remove(pids); err != nil {
		t.Fatal(err)
	}
	f.answer(f.send("coder", "work"))
	f.untilState("coder", swarm.Idle)
	if !f.troubled("pids") {
		t.Fatal("the status does not say that the pid file could not be written")
	}
	f.halt()

	f.sweep = 100 * time.Millisecond
	f.start()
	if err := os.Remove(pids); err != nil {
		t.Fatal(err)
	}
	f.answer(f.send("coder", "work"))
	f.until("the folder is recreated", func() bool { _, err := os.Stat(pids); return err == nil })
	f.until("the complaint is gone", func() bool { return !f.troubled("pids") })
}

// An alert that could not be delivered reaches the lead once, as soon as the lead's
// mailbox can be written again.
func TestAnAlertWaitsForTheDisk(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		var full atomic.Bool
		store, err := dropbox.Open(f.store.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
			if full.Load() && strings.HasPrefix(st.Name, "lead/") {
				return syscall.ENOSPC
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		f.store = store
		f.start()
		full.Store(true)
		f.send("coder", "@status 401")
		f.untilState("coder", swarm.Stopped)
		f.until("the status says so", func() bool { return f.troubled("could not be notified") })
		full.Store(false)
		f.until("the complaint is gone", func() bool { return !f.troubled("could not be notified") })
		if n := len(f.mail(dropbox.Lead)); n != 1 {
			t.Errorf("the lead has %d messages, want the one alert", n)
		}
	})
}

// The report that the mailboxes are gone disappears soon after they are back, before the
// next periodic check.
func TestMailboxesThatAreBackAreSeenSoon(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f := newField(t, "coder")
	f.sweep = time.Hour
	f.start()
	away := f.store.Dir() + "-away"
	if err := os.Rename(f.store.Dir(), away); err != nil {
		t.Fatal(err)
	}
	f.until("the status says that they are gone", func() bool { return f.troubled("is gone") })
	if err := os.Rename(away, f.store.Dir()); err != nil {
		t.Fatal(err)
	}
	f.until("the complaint is gone", func() bool { return !f.troubled("is gone") })
	f.answer(f.send("coder", "work"))
}

// If the mailboxes are gone before Run begins, Run returns an error.
func TestADaemonWithoutMailboxesDoesNotRun(t *testing.T) {
	f := newField(t, "coder")
	s := f.newSwarm()
	if err := os.RemoveAll(f.store.Dir()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Run(ctx, ctx); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Run = %v", err)
	}
}

// An agent that was stopped while the disk refused all writes is still stopped after a
// restart.
func TestWhatIsStoppedIsWrittenDownLater(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	state := filepath.Join(journal.HomeOf(f.dir).Dir(), "state.json")
	if err := os.MkdirAll(filepath.Join(state, "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.send("coder", "@status 401")
	f.untilState("coder", swarm.Stopped)
	if err := os.RemoveAll(state); err != nil {
		t.Fatal(err)
	}
	f.until("it is written down", func() bool { _, err := os.Stat(state); return err == nil })
	f.halt()
	f.start()
	f.untilState("coder", swarm.Stopped)
}

// An unreadable folder does not prevent the status from showing the agents' states.
func TestTheStatusOfWhatCannotBeCounted(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	f.start()
	if err := f.daemon.Pause("reviewer", swarm.PauseOrder{By: "lead"}); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(f.store.Dir(), "coder", "dead")
	if err := os.Remove(dead); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dead); err != nil { // never followed
		t.Fatal(err)
	}
	f.until("the status says so", func() bool { return f.troubled("counted") })
	f.untilState("reviewer", swarm.Paused)
}

// No turn begins for a message as long as the daemon cannot determine whether the message
// has already been given up.
func TestNoTurnBeginsWithoutTheDeadLetters(t *testing.T) {
	f := newField(t, "coder")
	f.sweep = time.Hour // a folder check would recreate dead/
	f.start()
	dead := filepath.Join(f.store.Dir(), "coder", "dead")
	if err := errors.Join(os.RemoveAll(dead), os.WriteFile(dead, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	id := f.send("coder", "work")
	if st := f.untilState("coder", swarm.Backoff); !strings.HasPrefix(st.Why, "cannot set a message aside: ") {
		t.Errorf("the status says %q", st.Why)
	}
	if got := f.bodies(); len(got) != 0 {
		t.Errorf("turns = %q, want none", got)
	}
	if err := errors.Join(os.Remove(dead), os.Mkdir(dead, 0o700)); err != nil {
		t.Fatal(err)
	}
	f.answer(id)
	if got := f.bodies(); !slices.Equal(got, []string{"work"}) {
		t.Errorf("turns = %q", got)
	}
}
