package dropbox_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// rings collects the changes that a watcher reports, without ever blocking the watcher.
type rings struct {
	mu    sync.Mutex
	heard []dropbox.Change
	more  chan struct{}
}

func (r *rings) bell(ring dropbox.Change) {
	r.mu.Lock()
	r.heard = append(r.heard, ring)
	r.mu.Unlock()
	select {
	case r.more <- struct{}{}:
	default:
	}
}

// await waits for a change that equals want and discards the changes before it.
func (r *rings) await(t *testing.T, want dropbox.Change) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		r.mu.Lock()
		for i, ring := range r.heard {
			if ring == want {
				r.heard = r.heard[i+1:]
				r.mu.Unlock()
				return
			}
		}
		heard := len(r.heard)
		r.mu.Unlock()
		select {
		case <-r.more:
		case <-deadline:
			t.Fatalf("no change %+v among %d others", want, heard)
		}
	}
}

func watch(t *testing.T, s *dropbox.Store) (*dropbox.Watcher, *rings) {
	t.Helper()
	r := &rings{more: make(chan struct{}, 1)}
	w, err := s.Watch(r.bell)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, r
}

func TestWatch(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	w, r := watch(t, s)

	d := deliver(t, s, "coder", text("x"))
	r.await(t, dropbox.Change{Mailbox: "coder", Name: d.Name})
	drop(t, s, "coder", "plan.md", "x")
	r.await(t, dropbox.Change{Mailbox: "coder", Stray: true})
	if err := os.WriteFile(filepath.Join(s.Dir(), "coder/FULL"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := mailbox(t, s, "coder")
	entries, err := b.Peek()
	if err != nil {
		t.Fatal(err)
	}
	claim(t, b, entries[0]) // this claim makes room again
	r.await(t, dropbox.Change{Mailbox: "coder", Stray: true})
	if err := s.Halt("stop"); err != nil {
		t.Fatal(err)
	}
	r.await(t, dropbox.Change{Halt: true})

	// A new mailbox is reported, but its messages are reported only after Add.
	if err := s.MakeMailbox("late"); err != nil {
		t.Fatal(err)
	}
	r.await(t, dropbox.Change{All: true})
	for range 2 {
		if err := w.Add("late"); err != nil {
			t.Fatal(err)
		}
	}
	d = deliver(t, s, "late", text("x"))
	r.await(t, dropbox.Change{Mailbox: "late", Name: d.Name})

	w.Remove("late")
	w.Remove("late")
	deliver(t, s, "late", text("unheard"))
	d = deliver(t, s, "coder", text("x"))
	r.await(t, dropbox.Change{Mailbox: "coder", Name: d.Name})
	r.mu.Lock()
	for _, ring := range r.heard {
		if ring.Mailbox == "late" {
			t.Errorf("%+v was reported for a mailbox that is no longer watched", ring)
		}
	}
	r.mu.Unlock()
	if err := w.Add("nobody"); err == nil {
		t.Error("Add of a missing mailbox succeeds")
	}
}

// A watcher of one mailbox does not report changes in other mailboxes, even after
// Rewatch.
func TestWatchOneMailbox(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder", "reviewer")
	r := &rings{more: make(chan struct{}, 1)}
	var others atomic.Int64
	w, err := s.Watch(func(ring dropbox.Change) {
		if ring.Mailbox == "coder" {
			others.Add(1)
		}
		r.bell(ring)
	}, "reviewer")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for range 2 {
		deliver(t, s, "coder", text("x"))
		d := deliver(t, s, "reviewer", text("y"))
		r.await(t, dropbox.Change{Mailbox: "reviewer", Name: d.Name}) // events arrive in order
		if missing, err := w.Rewatch(); missing != 0 || err != nil {
			t.Errorf("Rewatch = %d, %v", missing, err)
		}
	}
	if n := others.Load(); n > 0 {
		t.Errorf("%d changes of a mailbox that is not watched", n)
	}
}

func TestRewatch(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	w, r := watch(t, s)
	rewatch := func() {
		t.Helper()
		if missing, err := w.Rewatch(); missing != 0 || err != nil {
			t.Fatalf("Rewatch() = %d, %v", missing, err)
		}
	}
	hear := func() {
		t.Helper()
		d := deliver(t, s, "coder", text("x"))
		r.await(t, dropbox.Change{Mailbox: "coder", Name: d.Name})
	}
	inNew := filepath.Join(s.Dir(), "coder/new")
	if err := os.RemoveAll(inNew); err != nil {
		t.Fatal(err)
	}
	r.await(t, dropbox.Change{Mailbox: "coder", Lost: true})
	rewatch()
	hear()

	// A folder was moved away, and another folder now has its name.
	coder := filepath.Join(s.Dir(), "coder")
	if err := os.Rename(coder, filepath.Join(t.TempDir(), "away")); err != nil {
		t.Fatal(err)
	}
	r.await(t, dropbox.Change{All: true, Lost: true})
	rewatch()
	hear()

	// Rewatch reports a folder that it cannot watch, and the next call retries.
	if err := os.RemoveAll(coder); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), coder); err != nil {
		t.Fatal(err)
	}
	if missing, err := w.Rewatch(); missing != 1 || err == nil {
		t.Errorf("Rewatch with a symlink in the way = %d, %v, want 1 and an error", missing, err)
	}
	if err := os.Remove(coder); err != nil {
		t.Fatal(err)
	}
	rewatch()
	hear()
}
