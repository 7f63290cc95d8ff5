package mail

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// newInbox returns the Inbox of the agent coder.
func newInbox(t *testing.T) *Inbox {
	t.Helper()
	project := t.TempDir()
	box := filepath.Join(project, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(box, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenAttached(journal.HomeOf(project), store, "coder", AttachedOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.mail
}

// claimed delivers a message to an agent and claims it.
func claimed(t *testing.T, a *Inbox, as dropbox.Type) *dropbox.Claim {
	t.Helper()
	m := &dropbox.Message{Type: as, From: dropbox.Lead, Body: []byte("work")}
	if _, err := a.Store.Deliver(a.Name, m); err != nil {
		t.Fatal(err)
	}
	waiting, err := a.Box.List()
	if err != nil || len(waiting) != 1 {
		t.Fatalf("waiting: %v, %v", waiting, err)
	}
	c, err := a.Box.Claim(waiting[0])
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// takeUp settles a message whose turn failed.
func takeUp(a *Inbox, e dropbox.Entry) error {
	j, err := a.Reopen(e)
	if err != nil {
		return err
	}
	return a.FinishFailure(j, 3)
}

// count checks how many messages are in coder's new/, cur/ and done/ and in lead's new/.
func count(t *testing.T, a *Inbox, want ...int) {
	t.Helper()
	for i, folder := range []string{"coder/new/*.md", "coder/cur/*.md", "coder/done/*/*.md", "lead/new/*.md"} {
		names, err := filepath.Glob(filepath.Join(a.Store.Dir(), folder))
		if err != nil || len(names) != want[i] {
			t.Errorf("%s is %q (%v), want %d", folder, names, err, want[i])
		}
	}
}

// A turn is not settled before its end is in the event list, because no later step would
// add that event, and no listener would get it.
func TestReopenWaitsForTheListOfEvents(t *testing.T) {
	refused := func(a *Inbox, f func() error) {
		t.Helper()
		inTheWay := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		events := a.Notices.Events
		a.Notices.Events = journal.Open(filepath.Join(inTheWay, "events"), durable.Files{}, nil)
		err := f()
		a.Notices.Events = events
		if !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("settled with %v, want the error of the event list", err)
		}
	}
	t.Run("done", func(t *testing.T) {
		a := newInbox(t)
		task := claimed(t, a, dropbox.Task)
		r := &journal.Receipt{ID: task.ID, Turn: journal.TurnID(task.ID, task.Begun, 0), Agent: "coder", Outcome: string(runner.Done), Ended: time.Now()}
		data, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Box.Commit(task.Entry, data); err != nil {
			t.Fatal(err)
		}
		finish := func() error { return a.finish(task.Entry, task.Message, r) }
		refused(a, finish)
		count(t, a, 0, 1, 0, 0)
		if err := finish(); err != nil {
			t.Error(err)
		}
		count(t, a, 0, 0, 1, 0)
	})
	t.Run("failed", func(t *testing.T) {
		a := newInbox(t)
		task := claimed(t, a, dropbox.Task)
		rec := &journal.Record{V: 1, Turn: journal.TurnID(task.ID, task.Begun, 0), Agent: "coder", Message: task.ID, Begun: time.Now(), End: runner.Failed, Reason: "no luck", Ended: time.Now(), Counted: true}
		if err := rec.Write(a.Home); err != nil {
			t.Fatal(err)
		}
		again := func() error { return takeUp(a, task.Entry) }
		refused(a, again)
		count(t, a, 0, 1, 0, 0)
		if err := again(); err != nil {
			t.Error(err)
		}
		count(t, a, 1, 0, 0, 0)
	})
}

// If the messages in cur/ cannot be listed, or their records cannot be read, their turns
// do not start again.
func TestWhatIsLeftCannotBeRead(t *testing.T) {
	a := newInbox(t)
	c := claimed(t, a, dropbox.Task)
	record := a.Home.TurnFile(journal.TurnID(c.ID, c.Begun, 0), ".json")
	if err := os.MkdirAll(record, 0o700); err != nil {
		t.Fatal(err)
	}
	if j, err := a.Reopen(c.Entry); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("Reopen = %v, %v, want %v", j, err, syscall.EISDIR)
	}
	if left, _, err := a.Left(); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("Left = %v, %v, want %v", left, err, syscall.EISDIR)
	}
	count(t, a, 0, 1, 0, 0)
	cur := filepath.Join(a.Store.Dir(), "coder", "cur")
	if err := errors.Join(os.Rename(cur, cur+".kept"), os.WriteFile(cur, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if left, _, err := a.Left(); err == nil {
		t.Errorf("Left of a file = %v, want the error", left)
	}
	if err := a.finishNotes(&journal.Receipt{}); err == nil {
		t.Error("finishNotes of a file has no error")
	}
}

// A note is not filed before its receipt is written.
func TestANoteWithoutAReceiptIsNotFiled(t *testing.T) {
	a := newInbox(t)
	note := claimed(t, a, dropbox.Note)
	tmp := filepath.Join(a.Store.Dir(), "coder", "tmp")
	if err := errors.Join(os.RemoveAll(tmp), os.WriteFile(tmp, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := a.finishNotes(&journal.Receipt{Notes: []string{note.ID}}); err == nil {
		t.Error("finishNotes without a place for receipts has no error")
	}
	count(t, a, 0, 1, 0, 0)
}

// A note, or a message that arrived during a turn, stays with the turn until it can be
// put back.
func TestMailOfATurnThatCannotWaitAgain(t *testing.T) {
	a := newInbox(t)
	urgent := claimed(t, a, dropbox.Task)
	note := claimed(t, a, dropbox.Note)
	fresh := filepath.Join(a.Store.Dir(), "coder", "new")
	if err := errors.Join(os.RemoveAll(fresh), os.WriteFile(fresh, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for what, j := range map[string]*Job{"urgent": {Steered: []Steered{{Claim: urgent}}}, "note": {Notes: []*dropbox.Claim{note}}} {
		if err := a.PutBackNotes(j); err == nil || len(j.Steered)+len(j.Notes) != 1 {
			t.Errorf("%s: %v, %+v, want the error and the message", what, err, j)
		}
	}
	if err := errors.Join(os.Remove(fresh), os.Mkdir(fresh, 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := a.PutBackNotes(&Job{Steered: []Steered{{Claim: urgent}}, Notes: []*dropbox.Claim{note}}); err != nil {
		t.Error(err)
	}
	count(t, a, 2, 0, 0, 0)
}
