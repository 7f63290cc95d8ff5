package dropbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestProbeFileSystem(t *testing.T) {
	dir := t.TempDir()
	f, err := dropbox.ProbeFileSystem(dir)
	if err != nil || !f.Usable() || !f.Locks {
		t.Errorf("ProbeFileSystem = %+v, %v, want a usable one with locks", f, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if _, err := dropbox.ProbeFileSystem(filepath.Join(dir, "none")); err == nil {
		t.Error("a missing folder has a file system")
	}
}

func TestMisplaced(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	if got, err := s.Misplaced(); err != nil || len(got) > 0 {
		t.Errorf("Misplaced = %v, %v, want none", got, err)
	}
	done := filepath.Join(s.Dir(), "coder/done")
	if err := os.Remove(done); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), done); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Misplaced(); err != nil || !slices.Equal(got, []string{"coder/done"}) {
		t.Errorf("Misplaced = %v, %v, want coder/done", got, err)
	}
}
