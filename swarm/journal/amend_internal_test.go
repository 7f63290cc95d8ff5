package journal

import (
	"errors"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Amend fails for a mailbox that cannot be read. It must not count as empty.
func TestAMailboxThatCannotBeLookedAt(t *testing.T) {
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	l := new(Ledger)
	if lines, err := l.unwritten(store, "coder", time.Now()); err != nil || len(lines) != 0 {
		t.Errorf("unwritten = %v, %v, want nothing", lines, err)
	}
	if lines, err := l.unwritten(store, "nobody", time.Now()); err != nil || len(lines) != 0 {
		t.Errorf("unwritten of a mailbox that is not there = %v, %v, want nothing", lines, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if lines, err := l.unwritten(store, "coder", time.Now()); err == nil || errors.Is(err, dropbox.ErrNoMailbox) {
		t.Errorf("unwritten of a store that is closed = %v, %v, want the error", lines, err)
	}
}
