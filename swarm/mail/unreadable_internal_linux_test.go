package mail

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// withoutList calls f while the folder cannot be listed. The files in the folder can
// still be opened.
func withoutList(t *testing.T, folder string, f func()) {
	t.Helper()
	// Root can read everything, so this thread drops that capability while f runs.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var all [2]unix.CapUserData
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(unix.Capget(&head, &all[0]))
	less := all
	less[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	ok(os.Chmod(folder, 0o300))
	defer func() { ok(os.Chmod(folder, 0o700)) }()
	ok(unix.Capset(&head, &less[0]))
	defer func() { ok(unix.Capset(&head, &all[0])) }()
	if _, err := os.ReadDir(folder); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("%s can be listed (%v)", folder, err)
	}
	f()
}

// Amend returns an error if it cannot list a day's mail.
func TestADayThatCannotBeListed(t *testing.T) {
	in := newInbox(t)
	ledger, err := journal.OpenLedger(in.Home, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	day := filepath.Join(in.Store.Dir(), "coder/done", now.UTC().Format(time.DateOnly))
	if err := os.Mkdir(day, 0o700); err != nil {
		t.Fatal(err)
	}
	if lines, err := ledger.Amend(in.Home, in.Store, []string{"coder"}, now); err != nil || lines != 0 {
		t.Errorf("amend = %v, %v, want nothing", lines, err)
	}
	withoutList(t, day, func() {
		if lines, err := ledger.Amend(in.Home, in.Store, []string{"coder"}, now); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("amend = %v, %v, want the error", lines, err)
		}
	})
}

// Reopen fails while the folder that contains the turn's notes cannot be listed.
// Otherwise the message would be settled, and no later step would look for the notes.
func TestNotesThatCannotBeLookedForAtAStart(t *testing.T) {
	a := newInbox(t)
	note, task := claimed(t, a, dropbox.Note), claimed(t, a, dropbox.Task)
	rec := &journal.Record{
		V: 1, Turn: journal.TurnID(task.ID, task.Begun, 0), Agent: "coder", Message: task.ID, Notes: []string{note.ID},
		Begun: time.Now(), End: runner.Failed, Reason: "no luck", Ended: time.Now(), Counted: true,
	}
	if err := rec.Write(a.Home); err != nil {
		t.Fatal(err)
	}
	withoutList(t, filepath.Join(a.Store.Dir(), "coder/cur"), func() {
		if err := takeUp(a, task.Entry); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("takeUp = %v, want the error of the listing", err)
		}
	})
	count(t, a, 0, 2, 0, 0)
	if err := takeUp(a, task.Entry); err != nil {
		t.Error(err)
	}
	count(t, a, 2, 0, 0, 0)
}

// While the folder that contains a turn's notes cannot be listed, the turn's message is
// neither answered nor filed, because no later step would file the notes.
func TestNotesThatCannotBeLookedForAtTheEnd(t *testing.T) {
	a := newInbox(t)
	note, task := claimed(t, a, dropbox.Note), claimed(t, a, dropbox.Task)
	r := &journal.Receipt{
		ID: task.ID, Turn: journal.TurnID(task.ID, task.Begun, 0), Agent: "coder", Outcome: string(runner.Done),
		Notes: []string{note.ID}, Ended: time.Now(),
		Answer: &journal.Answer{To: dropbox.Lead, Thread: task.Message.Thread, Trace: task.Message.Trace, Body: "did it"},
	}
	data, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Box.Commit(task.Entry, data); err != nil {
		t.Fatal(err)
	}
	withoutList(t, filepath.Join(a.Store.Dir(), "coder/cur"), func() {
		if err := a.finish(task.Entry, task.Message, r); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("finish = %v, want the error of the listing", err)
		}
	})
	count(t, a, 0, 2, 0, 0)
	if err := a.finish(task.Entry, task.Message, r); err != nil {
		t.Error(err)
	}
	count(t, a, 0, 0, 2, 1)
	for _, e := range []dropbox.Entry{note.Entry, task.Entry} {
		if has, err := a.Box.HasReceipt(e); !has || err != nil {
			t.Errorf("%s is filed, and has a receipt: %v, %v", e.ID, has, err)
		}
	}
}
