package window_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/window"
)

// Save makes the file durable before it has its name, and then the name.
func TestSaveIsDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coder.window")
	var synced []string
	b := window.New(window.Options{Sync: func(f *os.File) error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		_, err = os.Stat(path)
		named := err == nil
		if info.IsDir() {
			here, err := os.Stat(filepath.Dir(path))
			if err != nil || !os.SameFile(here, info) {
				t.Errorf("another folder is synced: %s, %v", f.Name(), err)
			}
			synced = append(synced, "folder")
			if !named {
				t.Error("the folder is synced before the file has its name")
			}
			return f.Sync()
		}
		synced = append(synced, "file")
		if data, err := os.ReadFile(filepath.Join(filepath.Dir(path), filepath.Base(f.Name()))); err != nil || !strings.HasSuffix(string(data), "\nsome work\n") {
			t.Errorf("what is synced has %q, %v", data, err)
		}
		if named {
			t.Error("the file has its name before it is durable")
		}
		return f.Sync()
	}})
	b.AddText("some work")
	if err := b.Save(path); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"file", "folder"}, synced); diff != "" {
		t.Errorf("synced (-want +got):\n%s", diff)
	}
}

// A Save that is not durable says so. Until the rename the old window stays, and no
// scaffolding does.
func TestSaveSaysWhatIsNotDurable(t *testing.T) {
	for name, folder := range map[string]bool{"file": false, "folder": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "coder.window")
			old := window.New(window.Options{})
			old.AddText("old work")
			if err := old.Save(path); err != nil {
				t.Fatal(err)
			}
			b := window.New(window.Options{Sync: func(f *os.File) error {
				info, err := f.Stat()
				if err == nil && info.IsDir() == folder {
					err = syscall.EIO
				}
				return err
			}})
			b.AddText("new work")
			if err := b.Save(path); !errors.Is(err, syscall.EIO) {
				t.Errorf("Save = %v, want %v", err, syscall.EIO)
			}
			left, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(left) != 1 {
				t.Errorf("the folder has %v, %v, want the window alone", left, err)
			}
			got, err := window.Load(path, window.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]string{false: "old work\n", true: "new work\n"}[folder]; whole(got) != want {
				t.Errorf("the window is %q, want %q", whole(got), want)
			}
		})
	}
}

// Trouble of the disk is an error of that name, and no broken file.
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
		t.Errorf("what cannot be read was moved away: %v", err)
	}
}
