package swarm_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A clone of a repository in which the mailboxes are committed has only those folders of a
// mailbox that contain finished messages. The daemon creates the others before it watches
// the mailboxes, and recreates folders of its mailboxes that are deleted later.
func TestClonedMailboxes(t *testing.T) {
	f := newField(t, "coder")
	f.sweep = time.Hour
	own := append(dropbox.Bridges(), dropbox.Lead, dropbox.Swarm, dropbox.Hooks)
	for _, name := range append(own, "coder") {
		f.must(f.store.MakeMailbox(name))
		f.must(f.remove(filepath.Join(".dead-drop", name)))
		f.must(os.MkdirAll(filepath.Join(f.dir, ".dead-drop", name, "done", "2026-11-21"), 0o700))
	}
	whole := func() bool {
		for _, name := range append(own, "coder") {
			for _, folder := range []string{"tmp", "new", "cur", "done", "dead", "keys", "work"} {
				if _, err := os.Stat(filepath.Join(f.dir, ".dead-drop", name, folder)); err != nil {
					return false
				}
			}
		}
		return true
	}
	f.start()
	f.until("the folders are there", func() bool {
		st, err := f.daemon.Status()
		f.must(err)
		if len(st.Trouble) > 0 {
			t.Fatalf("trouble in a clone: %v", st.Trouble)
		}
		return whole()
	})
	f.answer(f.send("coder", "do it"))
	if st, err := f.daemon.Status(); err != nil || len(st.Trouble) > 0 {
		t.Errorf("trouble in a clone: %v, %v", st.Trouble, err)
	}
	for _, name := range own {
		f.must(f.remove(filepath.Join(".dead-drop", name, "new"), filepath.Join(".dead-drop", name, "tmp")))
	}
	f.until("the folders are back", whole)
}
