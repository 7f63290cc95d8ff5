package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Store whose folder was deleted uses the next store at its path, and one whose folder
// was moved keeps using that folder.
func TestADeletedStore(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	deliver(t, s, "coder", text("1"))
	if s.Deleted() {
		t.Error("a store that is in its place counts as deleted")
	}
	away := s.Dir() + "-away"
	if err := os.Rename(s.Dir(), away); err != nil {
		t.Fatal(err)
	}
	if s.Deleted() {
		t.Error("a store that was moved counts as deleted")
	}
	if n := len(list(t, mailbox(t, s, "coder"))); n != 1 {
		t.Errorf("%d messages in the store that was moved, want 1", n)
	}
	if err := os.RemoveAll(away); err != nil {
		t.Fatal(err)
	}
	b := s.Topics() // a Mailbox from before the deletion
	if !s.Deleted() {
		t.Error("a deleted store does not count as deleted")
	}
	if _, err := s.Deliver("coder", text("2")); !errors.Is(err, dropbox.ErrNoStore) {
		t.Errorf("Deliver in a deleted store = %v, want ErrNoStore", err)
	}
	// A folder without the version file is not a store yet.
	if err := os.Mkdir(s.Dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	if !s.Deleted() {
		t.Error("a folder that is not a store was used")
	}
	if err := errors.Join(dropbox.Create(s.Dir()), s.MakeMailbox("coder"), b.Make()); err != nil {
		t.Fatal(err)
	}
	if s.Deleted() {
		t.Error("the new store is not used")
	}
	deliver(t, s, "coder", text("3"))
	if _, err := os.Stat(filepath.Join(s.Dir(), "topics", "new")); err != nil {
		t.Errorf("the older Mailbox did not use the new store: %v", err)
	}
	if err := s.Halt("a test"); err != nil || !s.Halted() { // a name directly in the folder
		t.Errorf("Halt: %v; halted: %v", err, s.Halted())
	}
}

// Restore brings back the file of a claimed message if it was deleted, and only then.
func TestRestore(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, b *dropbox.Mailbox, dir string, c *dropbox.Claim) error
		back   bool
	}{
		"nothing happened": {func(*testing.T, *dropbox.Mailbox, string, *dropbox.Claim) error { return nil }, true},
		"the file was deleted": {func(_ *testing.T, _ *dropbox.Mailbox, dir string, c *dropbox.Claim) error {
			return os.Remove(filepath.Join(dir, "coder", "cur", c.Name))
		}, true},
		"cur was deleted": {func(_ *testing.T, _ *dropbox.Mailbox, dir string, c *dropbox.Claim) error {
			return os.RemoveAll(filepath.Join(dir, "coder", "cur"))
		}, true},
		"the mailbox was deleted": {func(_ *testing.T, _ *dropbox.Mailbox, dir string, c *dropbox.Claim) error {
			return os.RemoveAll(filepath.Join(dir, "coder"))
		}, true},
		"the store was deleted": {func(_ *testing.T, _ *dropbox.Mailbox, dir string, c *dropbox.Claim) error {
			return errors.Join(os.RemoveAll(dir), dropbox.Create(dir))
		}, true},
		"it was put back": {func(_ *testing.T, b *dropbox.Mailbox, _ string, c *dropbox.Claim) error {
			_, err := b.PutBack(c.Entry, true)
			return err
		}, false},
		"it was filed": {func(_ *testing.T, b *dropbox.Mailbox, _ string, c *dropbox.Claim) error {
			return errors.Join(b.Commit(c.Entry, []byte("r")), b.Finish(c.Entry))
		}, false},
		"it was given up": {func(_ *testing.T, b *dropbox.Mailbox, _ string, c *dropbox.Claim) error {
			return b.GiveUp(c.Entry, "enough")
		}, false},
		"it was refused": {func(_ *testing.T, b *dropbox.Mailbox, _ string, c *dropbox.Claim) error {
			return b.Refuse(c.Entry, "no")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, dropbox.Options{}, "coder")
			b := mailbox(t, s, "coder")
			deliver(t, s, "coder", text("work"))
			got := claim(t, b, list(t, b)[0])
			if err := c.change(t, b, s.Dir(), got); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := b.Restore(got); err != nil {
					t.Fatal(err)
				}
			}
			claimed, err := b.Claimed()
			if err != nil {
				t.Fatal(err)
			}
			if is := slices.Contains(claimed, got.Entry); is != c.back {
				t.Fatalf("in cur/: %v, want %v", is, c.back)
			}
			if !c.back {
				return
			}
			again, err := b.Open(got.Entry)
			if err != nil || string(again.Message.Body) != string(got.Message.Body) || again.ID != got.ID {
				t.Errorf("Open = %+v, %v", again, err)
			}
			if err := errors.Join(b.Commit(got.Entry, []byte("r")), b.Finish(got.Entry)); err != nil {
				t.Error(err)
			}
			if done, err := b.Finished(time.Now()); err != nil || len(done) != 1 {
				t.Errorf("finished: %v, %v", done, err)
			}
		})
	}
}

// A folder that is deleted while it is listed counts as empty, because a listing of it then
// fails with the same error as one of a missing folder.
func TestAFolderDeletedWhileItIsListed(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := errors.Join(os.Remove(filepath.Join(s.Dir(), "coder", "cur")), os.Mkdir(filepath.Join(s.Dir(), "coder", "cur"), 0o700)); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 20_000 {
		if _, err := b.Claimed(); err != nil {
			t.Errorf("Claimed = %v", err)
			break
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
