package dropbox_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A listener handles changes like a daemon: it records the names of messages, and lists the
// folder after a change with All or Lost.
type listener struct {
	s     *dropbox.Store
	w     *dropbox.Watcher
	mu    sync.Mutex
	known map[string]bool // names from changes and from listings of coder/new
	look  bool
	lost  bool
	rings int
}

func (l *listener) bell(r dropbox.Change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rings++
	switch {
	case r.All || r.Lost:
		l.look, l.lost = true, l.lost || r.Lost
	case r.Mailbox == "coder" && r.Name != "":
		l.known[r.Name] = true
	}
}

func listen(s *dropbox.Store) (*listener, error) {
	l := &listener{s: s, known: make(map[string]bool)}
	w, err := s.Watch(l.bell)
	l.w = w
	return l, err
}

// sweep performs the check that a daemon makes every 30 s, and soon after a change with
// Lost.
func (l *listener) sweep() (missing int, err error) {
	missing, err = l.w.Rewatch()
	return missing, errors.Join(err, l.see())
}

// see lists the folder.
func (l *listener) see() error {
	b, err := l.s.Mailbox("coder")
	if err != nil {
		return err
	}
	entries, err := b.List()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		l.known[e.Name] = true
	}
	return err
}

// hears waits until a message is known from changes or from the listings that changes
// request.
func (l *listener) hears(name string) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		l.mu.Lock()
		known, look, lost := l.known[name], l.look, l.lost
		l.look, l.lost = false, false
		l.mu.Unlock()
		switch {
		case known:
			return nil
		case lost:
			if _, err := l.sweep(); err != nil {
				return err
			}
		case look:
			if err := l.see(); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("nothing was ever heard of %s", name)
}

// sendAndHear delivers a message and waits until the changes have revealed it.
func (l *listener) sendAndHear() error {
	d, err := l.s.Deliver("coder", text("x"))
	if err != nil {
		return err
	}
	return l.hears(d.Name)
}

// quiet checks that the watcher reports no changes while the store is idle, because
// spurious changes would keep a daemon busy.
func (l *listener) quiet() error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		l.mu.Lock()
		before := l.rings
		l.mu.Unlock()
		time.Sleep(50 * time.Millisecond) // long enough for a looping watcher to report a change
		l.mu.Lock()
		after := l.rings
		l.mu.Unlock()
		if before == after {
			return nil
		}
	}
	return errors.New("it rings and rings")
}

// survives damages the watched folders, sends a message if that is possible, and repairs
// the folders. It then checks that no message is missing after one listing, and that
// changes are reported again.
func (l *listener) survives(damage, repair func() error) error {
	if err := l.sendAndHear(); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	if err := damage(); err != nil {
		return fmt.Errorf("damage: %w", err)
	}
	meanwhile, sendErr := l.s.Deliver("coder", text("meanwhile"))
	if err := l.quiet(); err != nil {
		return err
	}
	if err := repair(); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	if missing, err := l.sweep(); missing != 0 || err != nil {
		return fmt.Errorf("Rewatch = %d, %w", missing, err)
	}
	l.mu.Lock()
	known := l.known[meanwhile.Name]
	l.mu.Unlock()
	if sendErr == nil && !known {
		return errors.New("what came meanwhile is lost")
	}
	if err := l.sendAndHear(); err != nil {
		return fmt.Errorf("after: %w", err)
	}
	return l.quiet()
}

func nothing() error { return nil }

// moveBack moves a folder back to its original path. It first moves the files that
// arrived in the folder's replacement, as a careful person would.
func moveBack(aside, path string) error {
	names, err := os.ReadDir(path)
	for _, e := range names {
		err = errors.Join(err, os.Rename(filepath.Join(path, e.Name()), filepath.Join(aside, e.Name())))
	}
	if err := ignoreMissing(err); err != nil {
		return err
	}
	return errors.Join(ignoreMissing(os.Remove(path)), os.Rename(aside, path))
}

// After any damage to the folders, one listing finds every message, changes are reported
// again, and the reports eventually stop.
func TestWatchFaults(t *testing.T) {
	for name, fault := range map[string]func(dir, aside string) (damage, repair func() error){
		"new deleted": func(dir, aside string) (func() error, func() error) {
			return func() error { return os.RemoveAll(filepath.Join(dir, "coder/new")) }, nothing
		},
		"mailbox deleted": func(dir, aside string) (func() error, func() error) {
			return func() error { return os.RemoveAll(filepath.Join(dir, "coder")) }, nothing
		},
		"new moved away and back": func(dir, aside string) (func() error, func() error) {
			path := filepath.Join(dir, "coder/new")
			return func() error { return os.Rename(path, aside) }, func() error {
				return moveBack(aside, path)
			}
		},
		"mailbox moved away and back": func(dir, aside string) (func() error, func() error) {
			path := filepath.Join(dir, "coder")
			return func() error { return os.Rename(path, aside) }, func() error {
				return errors.Join(os.RemoveAll(path), os.Rename(aside, path))
			}
		},
		"store moved away and back": func(dir, aside string) (func() error, func() error) {
			return func() error { return os.Rename(dir, aside) }, func() error { return os.Rename(aside, dir) }
		},
		"new replaced by a symlink": func(dir, aside string) (func() error, func() error) {
			path := filepath.Join(dir, "coder/new")
			return func() error { return errors.Join(os.Rename(path, aside), os.Symlink(aside, path)) }, nothing
		},
		"mailbox replaced by a symlink": func(dir, aside string) (func() error, func() error) {
			path := filepath.Join(dir, "coder")
			return func() error { return errors.Join(os.Rename(path, aside), os.Symlink(aside, path)) },
				func() error { return os.Remove(path) }
		},
		"new replaced by a symlink to itself": func(dir, aside string) (func() error, func() error) {
			path := filepath.Join(dir, "coder/new")
			return func() error { return errors.Join(os.Rename(path, aside), os.Symlink("new", path)) }, nothing
		},
		"new replaced by a file": func(dir, aside string) (func() error, func() error) {
			path := filepath.Join(dir, "coder/new")
			return func() error { return errors.Join(os.Rename(path, aside), os.WriteFile(path, nil, 0o600)) }, nothing
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore(t, dropbox.Options{}, "coder")
			l, err := listen(s)
			if err != nil {
				t.Fatal(err)
			}
			defer l.w.Close()
			damage, repair := fault(s.Dir(), filepath.Join(t.TempDir(), "aside"))
			if err := l.survives(damage, repair); err != nil {
				t.Error(err)
			}
			tally(t, "watcher, "+name, 1)
		})
	}
}

// If 100,000 renames happen while the callback is blocked, a change reports the lost
// events.
func TestWatchFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newStore(t, dropbox.Options{}, "coder")
	l := &listener{s: s, known: make(map[string]bool)}
	stuck, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var err error
	l.w, err = s.Watch(func(r dropbox.Change) {
		once.Do(func() {
			close(stuck)
			<-free // a real callback must not block like this
		})
		l.bell(r)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.w.Close()
	deliver(t, s, "coder", text("x"))
	<-stuck
	in := filepath.Join(s.Dir(), "coder/new")
	a, b := filepath.Join(in, ".a"), filepath.Join(in, ".b")
	if err := os.WriteFile(a, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 100_000 {
		if err := os.Rename(a, b); err != nil {
			t.Fatal(err)
		}
		a, b = b, a
	}
	letter := deliver(t, s, "coder", text("under the flood"))
	close(free)
	if err := l.hears(letter.Name); err != nil {
		t.Error(err)
	}
	if err := l.sendAndHear(); err != nil {
		t.Errorf("after the flood: %v", err)
	}
	tally(t, "watcher, renames while it is held", 100_000)
}

// Add, Remove, Rewatch, Missing and Close do not block each other, and all of them return
// during a flood of events.
func TestWatchUnderFlood(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newStore(t, dropbox.Options{}, "coder", "other")
	l, err := listen(s)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var all sync.WaitGroup
	forever := func(do func()) {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					do()
				}
			}
		})
	}
	a, b := filepath.Join(s.Dir(), "coder/new/.a"), filepath.Join(s.Dir(), "coder/new/.b")
	if err := os.WriteFile(a, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	forever(func() { os.Rename(a, b); os.Rename(b, a) })
	forever(func() { os.Mkdir(filepath.Join(s.Dir(), "late"), 0o700); os.Remove(filepath.Join(s.Dir(), "late")) })
	forever(func() { l.w.Add("other"); l.w.Remove("other") })
	forever(func() { l.w.Rewatch(); l.w.Missing() })
	for range 20 {
		if err := l.sendAndHear(); err != nil {
			t.Error(err)
			break
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- l.w.Close() }() // its result is received below
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("Close does not return under a flood")
	}
	close(stop)
	all.Wait()
	for range 2 { // repeating the call is harmless
		if _, err := l.w.Rewatch(); err == nil {
			t.Error("Rewatch of a closed watcher returns no error")
		}
		if err := l.w.Close(); err != nil {
			t.Error(err)
		}
	}
}
