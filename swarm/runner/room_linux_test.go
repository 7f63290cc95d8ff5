package runner_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Disk space is reserved before a client prints anything. More is reserved after the
// client has printed, and unused space is freed. The size of the file remains that of the
// client's output.
func TestRoom(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	look := func() (size, room int64) {
		t.Helper()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Size(), info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	var room runner.Room
	for _, size := range []int64{0, 100, 900_000, 3_000_000} {
		if now, _ := look(); now < size {
			if _, err := f.Write(make([]byte, size-now)); err != nil {
				t.Fatal(err)
			}
		}
		if err := room.Keep(path, size); err != nil {
			t.Fatal(err)
		}
		if now, has := look(); now != size || has < size+1<<19 {
			t.Errorf("%d bytes printed: size %d, room for %d", size, now, has)
		}
	}
	if err := runner.ReleaseRoom(path); err != nil {
		t.Fatal(err)
	}
	if size, has := look(); size != 3_000_000 || has > size+1<<16 {
		t.Errorf("afterwards: size %d, room for %d", size, has)
	}
	if err := new(runner.Room).Keep(filepath.Join(t.TempDir(), "none"), 0); !os.IsNotExist(err) {
		t.Errorf("room in no file: %v", err)
	}
}
