package dropbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// backlog writes n message files into new/ of a mailbox, but not in the order of their
// names. It returns the names, sorted.
func backlog(t testing.TB, s *dropbox.Store, agent string, n int) []string {
	t.Helper()
	names := make([]string, n)
	for i := range names {
		at := time.Date(2026, 1, 1, 0, 0, (i*7919)%n, 0, time.UTC) // 7919 is prime, so each second occurs once
		e := dropbox.Entry{Priority: dropbox.Priority(i%3 - 1), Created: at, ID: dropbox.NewID()}
		names[i] = e.FileName()
		data := fmt.Sprintf("---\nid: %s\nfrom: lead\n---\nmessage\n", e.ID)
		if err := os.WriteFile(filepath.Join(s.Dir(), agent, "new", names[i]), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	return names
}

// A mailbox with 100,000 messages is listed in the order of their names, using bounded
// memory. The mailbox is then full, and has room again after some messages are claimed.
func TestHundredThousandWait(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const n = 100_000
	dir := fastFolder(t) + "/.dead-drop"
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	s := reopen(t, dir, dropbox.Options{MaxWaiting: n}, "coder")
	b := mailbox(t, s, "coder")
	names := backlog(t, s, "coder", n)

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	entries := list(t, b)
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / n
	t.Logf("%d bytes for each waiting message, with its name", each)
	if each > 400 {
		t.Errorf("a list of %d messages keeps %d bytes for each, want 400 at most", n, each)
	}
	if len(entries) != n {
		t.Fatalf("%d entries, want %d", len(entries), n)
	}
	for i, e := range entries {
		if e.Name != names[i] {
			t.Fatalf("entry %d is %s, want %s", i, e.Name, names[i])
		}
	}
	if err := second(s.Deliver("coder", text("one more"))); !errors.Is(err, dropbox.ErrFull) {
		t.Errorf("Deliver to a mailbox with %d messages = %v, want ErrFull", n, err)
	}
	// The listed messages are handled without listing the mailbox again.
	for _, e := range entries[:1000] {
		c := claim(t, b, e)
		if c.Bad != nil || c.ID != e.ID {
			t.Fatalf("claimed %+v, bad: %v, want %s", c.Entry, c.Bad, e.ID)
		}
	}
	if next := list(t, b); len(next) != n-1000 || next[0].Name != names[1000] {
		t.Errorf("then %d wait, the first is %s, want %s", len(next), next[0].Name, names[1000])
	}
	deliver(t, s, "coder", text("there is room again"))
}
