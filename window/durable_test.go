package window_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
	"github.com/claude-swarm/claude-swarm/window"
)

// After a power cut at any step, the file contains either the old window or the new one.
// If Save returned nil, the file contains the new window.
func TestThePowerCutsInSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coder.window")
	durabletest.Check(t, path, func(f durable.Files, n int) error {
		b := window.New(window.Options{Files: f})
		b.AddText(fmt.Sprint("work ", n))
		err := b.Save(path)
		if got, lerr := window.Load(path, window.Options{}); lerr != nil || err == nil && whole(got) != fmt.Sprintf("work %d\n", n) {
			t.Errorf("Save = %v; then the window is %q (%v)", err, whole(got), lerr)
		}
		return err
	})
}

// If the disk fails, Load returns the disk's error and does not treat the file as broken.
func TestLoadSaysWhatTheDiskSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := window.Load(filepath.Join(file, "coder.window"), window.Options{}); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("Load below a file = %v, want %v", err, syscall.ENOTDIR)
	}
	dir := t.TempDir()
	if b, err := window.Load(dir, window.Options{}); !errors.Is(err, syscall.EISDIR) || b != nil {
		t.Errorf("Load of a folder = %v, %v, want %v", b, err, syscall.EISDIR)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("the unreadable folder was moved away: %v", err)
	}
}

// A broken file that cannot be renamed stays in place, and Load does not return a window.
func TestABrokenFileThatStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coder.window")
	if err := os.WriteFile(path, []byte("rubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path+".broken", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	b, err := window.Load(path, window.Options{})
	if err == nil || errors.Is(err, window.ErrBroken) || b != nil {
		t.Errorf("Load = %v, %v, want no window and the error of the rename", b, err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "rubbish\n" {
		t.Errorf("the file has %q (%v)", data, err)
	}
}
