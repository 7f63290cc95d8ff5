package journal

import (
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A mailbox that cannot be read causes an error and is not treated as empty.
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

// Amend adds a line for each recent turn that ended without one, and adds each line only
// once.
func TestAmend(t *testing.T) {
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	for _, rec := range []*Record{
		{Turn: "b-1", Agent: "coder", End: "failed", Ended: now},
		{Turn: "a-1", Agent: "coder", End: "failed", Ended: now.Add(-time.Hour)},
		{Turn: "c-1", Agent: "coder", End: "failed", Ended: now.AddDate(0, 0, -amendDays).Add(-time.Minute)},
		{Turn: "d-1", Agent: "coder"},
	} {
		if err := home.Files().WriteJSON(home.TurnFile(rec.Turn, ".json"), rec); err != nil {
			t.Fatal(err)
		}
	}
	l, err := OpenLedger(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	heal := refuse(t, home.Ledger())
	if n, err := l.Amend(home, store, nil, now); err == nil || n != 0 {
		t.Errorf("Amend of a ledger that cannot be written = %d, %v", n, err)
	}
	heal()
	for _, want := range []int{2, 0} { // a restarted daemon has no lines to add
		l, err := OpenLedger(home, nil)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := l.Amend(home, store, []string{"coder"}, now); err != nil || n != want {
			t.Errorf("Amend = %d, %v, want %d", n, err, want)
		}
	}
	var turns []string
	if err := ReadLedger(home.Ledger(), func(line LedgerLine) bool { turns = append(turns, line.Turn); return true }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(turns, []string{"a-1", "b-1"}) {
		t.Errorf("the ledger has %q, want a-1 before b-1", turns)
	}
	if err := os.RemoveAll(home.Turns()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home.Turns(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := l.Amend(home, store, nil, now); err == nil {
		t.Errorf("Amend without the records = %d, want the error", n)
	}
}
