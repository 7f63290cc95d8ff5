package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

func TestAppend(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	var ops []durable.Op
	f := durable.Files{Step: func(s durable.Step) error { ops = append(ops, s.Op); return nil }}
	for _, line := range []string{"one", "two"} {
		if err := f.Append(path, durable.Options{}, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Append(path, durable.Options{Volatile: true}, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "one\ntwo\nthree\n" {
		t.Errorf("the file has %q", got)
	}
	want := []durable.Op{durable.Create, durable.SyncDir, durable.Fill, durable.Sync, durable.Fill, durable.Sync, durable.Fill}
	if diff := cmp.Diff(want, ops); diff != "" {
		t.Errorf("changes, -want +got\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info.Mode(), err)
	}
}

// If the folder of a new file could not be synced, the next Append syncs it. If a file
// contains a line, its folder has been synced, even if the first line was volatile.
func TestAppendAfterARefusedSync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	failing := true
	var ops []durable.Op
	f := durable.Files{Step: func(s durable.Step) error {
		if failing && s.Op == durable.SyncDir {
			return syscall.EIO
		}
		ops = append(ops, s.Op)
		return nil
	}}
	for _, volatile := range []bool{false, true, false} {
		if err := f.Append(path, durable.Options{Volatile: volatile}, []byte("one")); !errors.Is(err, syscall.EIO) {
			t.Errorf("Append in a folder that is not synced = %v, want EIO", err)
		}
	}
	failing = false
	if err := f.Append(path, durable.Options{}, []byte("two")); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(ops, durable.SyncDir) {
		t.Errorf("the folder was not synced: %v", ops)
	}
	if got := read(t, path); got != "two\n" {
		t.Errorf("the file has %q", got)
	}
}

// Append does not change the caller's slice, even if it has spare capacity.
func TestAppendLeavesTheLineOfTheCaller(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	buffer := []byte("one|two")
	if err := (durable.Files{}).Append(path, durable.Options{}, buffer[:3]); err != nil {
		t.Fatal(err)
	}
	if string(buffer) != "one|two" {
		t.Errorf("the buffer is %q", buffer)
	}
}

// A partial line becomes a separate line, and the next line is complete.
func TestAppendBehindATornLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(path, []byte("one\ntw"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := (durable.Files{}).Append(path, durable.Options{}, []byte("three")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "one\ntw\nthree\n" {
		t.Errorf("the file has %q", got)
	}
}

func TestAppendIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "lines")
	refused := errors.New("refused")
	for _, op := range []durable.Op{durable.Create, durable.Fill, durable.Sync, durable.SyncDir} {
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		f := durable.Files{Step: func(s durable.Step) error {
			if s.Op == op {
				return refused
			}
			return nil
		}}
		if err := f.Append(path, durable.Options{}, []byte("one")); !errors.Is(err, refused) {
			t.Errorf("Append with a refused %s = %v", op, err)
		}
	}
	f := durable.Files{Sync: func(*os.File) error { return syscall.EIO }}
	if err := f.Append(path, durable.Options{}, []byte("one")); !errors.Is(err, syscall.EIO) {
		t.Errorf("Append on a disk that syncs nothing = %v", err)
	}
	if err := (durable.Files{}).Append(filepath.Join(dir, "no", "lines"), durable.Options{}, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Append in a missing folder = %v", err)
	}
	if err := (durable.Files{}).Append(dir, durable.Options{}, nil); err == nil {
		t.Error("a line was added to a folder")
	}
}
