package durable_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
)

func TestWriteKeepsItsPromise(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	durabletest.Check(t, path, func(f durable.Files, n int) error {
		return f.Write(path, durable.Options{}, []byte("content "), []byte(fmt.Sprint(n)))
	})
}

func TestWriteJSON(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	durabletest.Check(t, path, func(f durable.Files, n int) error { return f.WriteJSON(path, map[string]int{"n": n}) })
	if got := read(t, path); got != "{\n  \"n\": 1\n}\n" && got != "{\n  \"n\": 2\n}\n" {
		t.Errorf("file = %q", got)
	}
	if err := (durable.Files{}).WriteJSON(path, func() {}); err == nil {
		t.Error("a function was written as JSON")
	}
}

// The content is complete before the file is synced, and the file has its name before the
// folder is synced.
func TestWhatIsSynced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	var synced []string
	f := durable.Files{Sync: func(file *os.File) error {
		_, err := os.Stat(path)
		named := err == nil
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if info.IsDir() {
			synced = append(synced, "folder")
			if !named {
				t.Error("the folder is synced before the file has its name")
			}
			return file.Sync()
		}
		synced = append(synced, "file")
		if there := names(t, dir); named || len(there) != 1 || read(t, filepath.Join(dir, there[0])) != "one two" {
			t.Errorf("when the file is synced, the folder has %v", there)
		}
		return file.Sync()
	}}
	if err := f.Write(path, durable.Options{}, []byte("one "), []byte("two")); err != nil {
		t.Fatal(err)
	}
	if err := f.SyncDir(dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"file", "folder", "folder"}, synced); diff != "" {
		t.Errorf("synced, -want +got\n%s", diff)
	}
	if err := f.SyncDir(filepath.Join(dir, "no")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SyncDir of a missing folder = %v", err)
	}
}

// Write returns a disk error, and leaves only the old file in the folder. In the test
// cases, a sync fails with different options, or a folder has the file's name.
func TestTroubleOfTheDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := (durable.Files{}).Write(path, durable.Options{}, []byte("old")); err != nil {
		t.Fatal(err)
	}
	f := durable.Files{Sync: func(*os.File) error { return syscall.EIO }}
	for _, o := range []durable.Options{{}, {Time: time.Unix(1, 0)}, {Keep: true}} {
		if err := f.Write(path, o, []byte("new")); !errors.Is(err, syscall.EIO) {
			t.Errorf("Write with %+v = %v, want %v", o, err, syscall.EIO)
		}
	}
	if got := read(t, path); got != "old" {
		t.Errorf("file = %q", got)
	}
	taken := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(taken, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := (durable.Files{}).Write(taken, durable.Options{}, []byte("new")); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if diff := cmp.Diff([]string{"file", "folder"}, names(t, dir)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// If the temporary file cannot be created, Write removes no file.
func TestATemporaryNameThatIsTaken(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".half", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	var ops []durable.Op
	f := durable.Files{Step: func(s durable.Step) error { ops = append(ops, s.Op); return nil }}
	if err := f.Write(filepath.Join(dir, "file"), durable.Options{Temp: ".half"}, []byte("new")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Write = %v, want %v", err, fs.ErrExist)
	}
	if diff := cmp.Diff([]durable.Op{durable.Create}, ops); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// If the disk accepts only part of the content, the old file is unchanged.
func TestAFileThatIsTooLong(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := (durable.Files{}).Write(path, durable.Options{}, []byte("old")); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // otherwise, the signal would terminate the process
	defer signal.Reset(syscall.SIGXFSZ)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		t.Fatal(err)
	}
	f := durable.Files{Step: func(s durable.Step) error {
		switch s.Op {
		case durable.Fill:
			return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: was.Max})
		case durable.Sync, durable.Remove:
			return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was)
		}
		return nil
	}}
	err := f.Write(path, durable.Options{}, bytes.Repeat([]byte("x"), 1000))
	if serr := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); serr != nil {
		t.Fatal(serr)
	}
	if !errors.Is(err, syscall.EFBIG) {
		t.Errorf("Write = %v, want %v", err, syscall.EFBIG)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("file = %q", got)
	}
}

// After a failed write, the folder contains only the old file.
func TestARefusedChangeLeavesTheOldFile(t *testing.T) {
	for n, op := range []durable.Op{durable.Create, durable.Fill, durable.Sync, durable.Rename} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		if err := (durable.Files{}).Write(path, durable.Options{}, []byte("old")); err != nil {
			t.Fatal(err)
		}
		full := errors.New("no space left")
		f := durable.Files{Step: func(s durable.Step) error {
			if s.Op == op {
				return full
			}
			return nil
		}}
		if err := f.Write(path, durable.Options{}, []byte("new")); !errors.Is(err, full) {
			t.Errorf("%d: Write = %v, want %v", n, err, full)
		}
		if diff := cmp.Diff([]string{"file"}, names(t, dir)); diff != "" {
			t.Errorf("refused %s: -want +got\n%s", op, diff)
		}
		if got := read(t, path); got != "old" {
			t.Errorf("refused %s: file = %q", op, got)
		}
	}
}

func TestOptions(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		o       durable.Options
		there   string // the file's old content
		want    string
		err     error
		changes string
	}{
		"nothing there":       {want: "new", changes: "create fill sync rename sync dir"},
		"replaced":            {there: "old", want: "new", changes: "create fill sync rename sync dir"},
		"volatile":            {o: durable.Options{Volatile: true}, there: "old", want: "new", changes: "create fill rename"},
		"keep, nothing there": {o: durable.Options{Keep: true}, want: "new", changes: "create fill sync link remove sync dir"},
		"keep":                {o: durable.Options{Keep: true}, there: "old", want: "old", err: fs.ErrExist, changes: "create fill sync link remove"},
		"a name for a while":  {o: durable.Options{Temp: ".half"}, there: "old", want: "new", changes: "create fill sync rename sync dir"},
		"a mode":              {o: durable.Options{Perm: 0o666}, want: "new", changes: "create fill sync rename sync dir"},
		"a time":              {o: durable.Options{Time: at}, want: "new", changes: "create fill sync rename sync dir"},
		"a mode and volatile": {o: durable.Options{Perm: 0o755, Volatile: true}, want: "new", changes: "create fill rename"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			if c.there != "" {
				if err := os.WriteFile(path, []byte(c.there), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if c.o.Temp != "" { // as a crash would leave it behind
				if err := os.WriteFile(filepath.Join(dir, c.o.Temp), []byte("half of a longer text"), 0o400); err != nil {
					t.Fatal(err)
				}
			}
			var ops []string
			f := durable.Files{Step: func(s durable.Step) error {
				ops = append(ops, string(s.Op))
				if s.Path != path {
					t.Errorf("a change of %s", s.Path)
				}
				return nil
			}}
			if err := f.Write(path, c.o, []byte("new")); !errors.Is(err, c.err) {
				t.Fatalf("Write = %v, want %v", err, c.err)
			}
			if got := strings.Join(ops, " "); got != c.changes {
				t.Errorf("changes: %s\nwant:    %s", got, c.changes)
			}
			if got := read(t, path); got != c.want {
				t.Errorf("file = %q, want %q", got, c.want)
			}
			if diff := cmp.Diff([]string{"file"}, names(t, dir)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			want := c.o.Perm
			if want == 0 {
				want = 0o600
			}
			if info.Mode().Perm() != want {
				t.Errorf("mode %v, want %v", info.Mode().Perm(), want)
			}
			if !c.o.Time.IsZero() && !info.ModTime().Equal(c.o.Time) {
				t.Errorf("time %v, want %v", info.ModTime(), c.o.Time)
			}
		})
	}
}

// WriteIn writes only below its root, and not through links that lead out of it.
func TestWriteIn(t *testing.T) {
	inside, outside := t.TempDir(), t.TempDir()
	for _, dir := range []string{"pages", "real"} {
		if err := os.Mkdir(filepath.Join(inside, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(outside, filepath.Join(inside, "out")), os.WriteFile(filepath.Join(outside, "target"), []byte("outside"), 0o600),
		os.Symlink(filepath.Join(outside, "target"), filepath.Join(inside, "pages", "page"))); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := (durable.Files{}).WriteIn(root, "out/page", durable.Options{}, []byte("x")); err == nil {
		t.Error("a file was written out of the root")
	}
	if err := (durable.Files{}).WriteIn(root, "pages/page", durable.Options{}, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(outside, "target")); got != "outside" {
		t.Errorf("the target of a link is %q now", got)
	}
	if got := read(t, filepath.Join(inside, "pages", "page")); got != "new" {
		t.Errorf("page = %q", got)
	}
}

// After several concurrent writes, the file has the content of one of them. No reader
// sees a partial file.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for range 50 {
				if err := (durable.Files{}).Write(path, durable.Options{Volatile: true}, bytes.Repeat([]byte{byte('a' + n)}, 10_000)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for {
		select {
		case <-done:
			return
		default:
		}
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if len(data) != 10_000 || bytes.Count(data, data[:1]) != len(data) {
			t.Fatalf("a reader saw %d bytes of several writers", len(data))
		}
	}
}

func TestAFolderThatIsNotThere(t *testing.T) {
	if err := (durable.Files{}).Write(filepath.Join(t.TempDir(), "no", "file"), durable.Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Write = %v, want fs.ErrNotExist", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
