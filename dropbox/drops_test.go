package dropbox_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Count counts the files that List lists, up to MaxDrops.
func TestDropCount(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newStore(t, dropbox.Options{}, "coder")
	box := mailbox(t, s, "coder")
	lay := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(s.Dir(), "coder", name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.md", "b", ".hidden", "half.part", "saved~", "FULL"} {
		lay(name)
	}
	strays, err := box.Drops().List()
	if n, countErr := box.Drops().Count(); n != 2 || n != len(strays) || err != nil || countErr != nil {
		t.Errorf("Count() = %d, %v, and %d are listed, %v; want 2", n, countErr, len(strays), err)
	}
	for i := range dropbox.MaxDrops {
		lay(strconv.Itoa(i))
	}
	if n, err := box.Drops().Count(); n != dropbox.MaxDrops || err != nil {
		t.Errorf("Count() of more = %d, %v, want %d", n, err, dropbox.MaxDrops)
	}
	if err := os.RemoveAll(filepath.Join(s.Dir(), "coder")); err != nil {
		t.Fatal(err)
	}
	if n, err := box.Drops().Count(); n != 0 || err != nil {
		t.Errorf("Count() of a missing folder = %d, %v", n, err)
	}
}
