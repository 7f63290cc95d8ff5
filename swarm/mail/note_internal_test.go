package mail

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The daemon retries in the folder in which the error occurred, regardless of the form of
// the path in the error. The path of a window's file is relative to the window's folder,
// and the path of a stored message is relative to the store.
func TestTheFolderOfAnError(t *testing.T) {
	dir := t.TempDir()
	box := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(box, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	s := &Service{Home: journal.HomeOf(dir), Store: store}
	for want, err := range map[string]error{
		filepath.Join(s.Home.Dir(), "pids"):   &fs.PathError{Op: "open", Path: s.Home.PIDFile("coder"), Err: syscall.ENOSPC},
		filepath.Join(s.Home.Dir(), "window"): &fs.PathError{Op: "openat", Path: ".coder.JTUTLCJBRC", Err: syscall.ENOSPC},
		filepath.Join(box, "lead", "tmp"):     &os.LinkError{Op: "rename", Old: "lead/tmp/x", New: "lead/new/x", Err: syscall.EIO},
		s.Home.Dir():                          syscall.EMFILE,
	} {
		if got := s.folderOf(fmt.Errorf("save: %w", err)); got != want {
			t.Errorf("folderOf(%v) = %s, want %s", err, got, want)
		}
	}
}
