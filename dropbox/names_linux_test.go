package dropbox_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A listing is a consistent snapshot of the folder, even if the kernel returns the names
// in many parts to readers with a small buffer.
func TestAListingShowsOneMoment(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	const before, during = 1000, 1000
	names := make([]string, before+during)
	at := time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC)
	scratch := t.TempDir()
	for i := range names {
		names[i] = dropbox.Entry{Created: at.Add(time.Duration(i) * time.Microsecond), ID: fmt.Sprintf("a%09d", i)}.FileName()
		folder := scratch
		if i < before {
			folder = filepath.Join(s.Dir(), "coder/new")
		}
		if err := os.WriteFile(filepath.Join(folder, names[i]), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 1)
	var writer sync.WaitGroup
	t.Cleanup(writer.Wait)
	writer.Go(func() {
		for _, name := range names[before:] {
			if err := os.Rename(filepath.Join(scratch, name), filepath.Join(s.Dir(), "coder/new", name)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	})
	for ended := false; !ended; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			ended = true
		default:
		}
		entries, err := b.Peek()
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range entries {
			if e.Name != names[i] {
				t.Fatalf("entry %d of %d is %s, want %s", i, len(entries), e.Name, names[i])
			}
		}
		if n := len(entries); n < before || ended && n != len(names) {
			t.Fatalf("%d entries", n)
		}
	}
}
