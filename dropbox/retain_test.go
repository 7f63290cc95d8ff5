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

func TestClean(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	cut, _ := cutAt(t, s.Dir(), 6) // the message is written and its key is linked, but it is not moved
	if _, err := cut.Deliver("coder", keyed("cut")); err == nil {
		t.Fatal("was not cut off")
	}
	kept := deliver(t, s, "coder", keyed("kept"))
	if n, err := b.Clean(time.Now()); n != 0 || err != nil {
		t.Errorf("Clean now = %d, %v, want nothing", n, err)
	}
	if n, err := b.Clean(time.Now().Add(2 * time.Hour)); n != 1 || err != nil {
		t.Errorf("Clean after 2 h = %d, %v, want 1", n, err)
	}
	if left := tree(t, filepath.Join(s.Dir(), "coder/tmp")); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
	if _, err := os.Stat(guard(s, "coder", "cut")); err == nil {
		t.Error("the key file of a message that was never accepted stays")
	}
	if d := deliver(t, s, "coder", keyed("kept")); d.ID != kept.ID {
		t.Error("Clean forgot a key within the week")
	}
	if n, err := b.Clean(time.Now().Add(8 * 24 * time.Hour)); n != 1 || err != nil {
		t.Errorf("Clean after 8 days = %d, %v, want 1", n, err)
	}
	if got := ids(t, b); !slices.Equal(got, []string{kept.ID}) {
		t.Errorf("%v wait, want %s", got, kept.ID)
	}
}

func TestRetain(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	for range 20 { // one message of 0.2 MB each day, finished the same day
		deliver(t, s, "coder", text("x"))
		c := claim(t, b, list(t, b)[0])
		if err := errors.Join(b.Commit(c.Entry, make([]byte, 200_000)), b.Finish(c.Entry)); err != nil {
			t.Fatal(err)
		}
		now = now.AddDate(0, 0, 1)
	}
	deliver(t, s, "coder", text("no receipt"))
	if err := b.File(list(t, b)[0]); err != nil {
		t.Fatal(err)
	}
	done := func() (days int) {
		entries, err := os.ReadDir(filepath.Join(s.Dir(), "coder/done"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	for _, test := range []struct {
		days    int
		mb      int64
		removed int
		left    int
	}{
		{0, 0, 0, 21},
		{15, 0, 5, 16},
		{0, 3, 0, 16}, // 15 messages of 0.2 MB are below the limit
		{0, 2, 5, 11},
		{1, 0, 3, 8}, // messages of the last 7 days are always kept
		{0, 1, 0, 8},
	} {
		if n, err := s.Retain(test.days, test.mb); n != test.removed || err != nil || done() != test.left {
			t.Errorf("Retain(%d, %d) = %d, %v, and %d days stay; want %d, and %d", test.days, test.mb, n, err, done(), test.removed, test.left)
		}
	}
	now = now.AddDate(1, 0, 0)
	if _, err := s.Retain(30, 1); err != nil || done() != 1 {
		t.Errorf("after a year %d days stay, %v; want the one without a receipt", done(), err)
	}
}

func TestRetainRefused(t *testing.T) {
	now := time.Now()
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	refused := filepath.Join(s.Dir(), "refused", "coder")
	for i := range 20 { // one message of 0.2 MB each day
		deliver(t, s, "coder", &dropbox.Message{From: "tester", Body: make([]byte, 1)})
		c := claim(t, b, list(t, b)[0])
		if err := b.Refuse(c.Entry, "why"); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{".md", ".reason.txt"} {
			path := filepath.Join(refused, c.Base()+end)
			at := now.Add(time.Duration(i-20) * 24 * time.Hour)
			if end == ".md" {
				if err := os.Truncate(path, 200_000); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(filepath.Join(refused, "of somebody else.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		days    int
		mb      int64
		removed int
		left    int
	}{
		{0, 0, 0, 20},
		{30, 9, 0, 20},
		{15, 0, 5, 15},
		{0, 3, 0, 15},  // 15 messages of 0.2 MB are below the limit
		{30, 2, 5, 10}, // 10 messages fit into 2 MB
		{0, 1, 5, 5},   // even messages of the last 7 days are removed
	} {
		n, err := s.RetainRefused(test.days, test.mb)
		kept, _, err2 := b.Refusals().Count(time.Time{})
		if n != test.removed || kept != test.left || errors.Join(err, err2) != nil {
			t.Errorf("RetainRefused(%d, %d) = %d, %v, and %d stay; want %d, and %d", test.days, test.mb, n, err, kept, test.removed, test.left)
		}
	}

	// The mark of a readmitted message is kept only while the message is waiting or
	// claimed.
	list1, err := b.Refusals().List()
	if err != nil {
		t.Fatal(err)
	}
	e := list1[0].Entry
	if err := b.Refusals().Readmit(e, true); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(1, 0, 0)
	if n, err := s.RetainRefused(30, 0); n != 4 || err != nil {
		t.Errorf("after a year %d were removed, %v; want 4", n, err)
	}
	if passes, err := b.Refusals().Passes(e); !passes || err != nil {
		t.Errorf("the waiting message may no longer pass: %v", err)
	}
	if err := b.GiveUp(list(t, b)[0], "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RetainRefused(30, 0); err != nil {
		t.Error(err)
	}
	if left := tree(t, refused); len(left) != 1 {
		t.Errorf("left: %v, want only the foreign file", left)
	}
}
