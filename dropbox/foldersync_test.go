package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A process may be killed after it has created folders but before they are durable.
// Regardless of the step at which it was killed, the next call that needs the folders
// makes them durable before it puts anything into them.
func TestFoldersThatWereNotSynced(t *testing.T) {
	reason := func(s *dropbox.Store) error { return s.Threads().Halt("aaaaaaaaaa", "why") }
	send := func(s *dropbox.Store) error { return second(s.Deliver("coder", text("x"))) }
	for name, c := range map[string]struct {
		first, then func(*dropbox.Store) error
		synced      []string // the parents of the new folders
	}{
		"a mailbox, made again": {
			first:  func(s *dropbox.Store) error { return s.MakeMailbox("coder") },
			then:   func(s *dropbox.Store) error { return s.MakeMailbox("coder") },
			synced: []string{".", "coder"},
		},
		"a mailbox that gets a message": {
			first: func(s *dropbox.Store) error { return s.MakeMailbox("coder") },
			then: func(s *dropbox.Store) error {
				if err := send(s); !errors.Is(err, dropbox.ErrNoMailbox) {
					return err
				}
				return errors.Join(s.MakeMailbox("coder"), send(s)) // no folder has been created yet
			},
			synced: []string{".", "coder"},
		},
		"a folder in a mailbox": {
			first:  func(s *dropbox.Store) error { return s.Topics().Folder("grants").Make() },
			then:   func(s *dropbox.Store) error { return s.Topics().Folder("grants").Make() },
			synced: []string{"topics"},
		},
		"the folder of halted conversations": {first: reason, then: reason, synced: []string{"."}},
	} {
		for n := 1; ; n++ {
			base := newStore(t, dropbox.Options{})
			if c.synced[0] == "topics" {
				if err := base.Topics().Make(); err != nil {
					t.Fatal(err)
				}
			}
			cut, reached := cutAt(t, base.Dir(), n)
			var durable []string
			if err := c.first(cut); err == nil && reached() {
				t.Fatalf("%s, cut before step %d: no error", name, n)
			}
			if !reached() {
				break
			}
			s := reopen(t, base.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
				if st.Op == dropbox.OpSyncDir {
					durable = append(durable, st.Name)
				}
				return nil
			}})
			if err := c.then(s); err != nil {
				t.Errorf("%s, cut before step %d: %v", name, n, err)
			}
			for _, folder := range c.synced {
				if !slices.Contains(durable, folder) {
					t.Errorf("%s, cut before step %d: %s is not durable, only %q", name, n, folder, durable)
				}
			}
		}
	}
}

// A complete mailbox is not synced again, because a daemon with thousands of agents calls
// MakeMailbox for each of them whenever it starts.
func TestACompleteMailboxIsNotSynced(t *testing.T) {
	var steps []dropbox.Step
	s := newStore(t, dropbox.Options{}, "coder")
	again := reopen(t, s.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		steps = append(steps, st)
		return nil
	}})
	if err := again.MakeMailbox("coder"); err != nil || len(steps) > 0 {
		t.Errorf("MakeMailbox = %v, and did %v", err, steps)
	}
	if err := os.Remove(filepath.Join(s.Dir(), "coder/work")); err != nil {
		t.Fatal(err)
	}
	deliver(t, again, "coder", text("x"))
	if len(list(t, mailbox(t, again, "coder"))) != 1 {
		t.Error("nothing waits")
	}
	if _, err := os.Stat(filepath.Join(s.Dir(), "coder/work")); err != nil {
		t.Error(err)
	}
}
