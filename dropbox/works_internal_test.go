package dropbox

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The works method returns false if the disk refuses any of its changes. Clean later removes
// any files that works left behind.
func TestADiskThatWorks(t *testing.T) {
	dir := t.TempDir()
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	var refused Op
	s, err := Open(dir, Options{Step: func(st Step) error {
		if st.Op == refused {
			return unix.EIO
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	b, err := s.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range []Op{"", OpCreate, OpWrite, OpSync, OpRemove} {
		refused = op
		if got := b.works(); got != (op == "") {
			t.Errorf("refused %q: works = %v", op, got)
		}
	}
	// Clean removes the file that works could not remove.
	refused = ""
	if _, err := b.Clean(time.Now().Add(2 * time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "coder/tmp/*")); err != nil || len(left) > 0 {
		t.Errorf("left behind %q, %v", left, err)
	}
}

// A folder is not removed while the disk refuses changes.
func TestAFolderThatMayNotBeRemoved(t *testing.T) {
	dir := t.TempDir()
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	failing := true
	s, err := Open(dir, Options{Step: func(st Step) error {
		if failing && st.Op == OpRemove {
			return unix.EROFS
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	trial := filepath.Join(dir, scratchPrefix+"trial")
	if err := os.Mkdir(trial, 0o700); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(2 * time.Hour)
	if _, err := s.Clean(later); !errors.Is(err, unix.EROFS) {
		t.Errorf("Clean = %v, want %v", err, unix.EROFS)
	}
	if _, err := os.Stat(trial); err != nil {
		t.Errorf("the folder: %v", err)
	}
	failing = false
	if _, err := s.Clean(later); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(trial); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}
