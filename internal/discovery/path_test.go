package discovery_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// Every caller finds the same socket, regardless of its working folder and of its path to
// the project.
func TestEveryCallerAgrees(t *testing.T) {
	project, runtime := newPlace(t)
	getenv := env(map[string]string{"XDG_RUNTIME_DIR": runtime})
	link := filepath.Join(filepath.Dir(project), "link")
	if err := os.Symlink(project, link); err != nil {
		t.Fatal(err)
	}
	want, err := discovery.Paths(project, getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	for _, way := range []string{link, project + "/", project + "/../p", "."} {
		got, err := discovery.Paths(way, getenv)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Paths(%q): %v (-want +got):\n%s", way, err, diff)
		}
	}
	other := filepath.Join(filepath.Dir(project), "q")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, _ := discovery.Paths(other, getenv); cmp.Equal(want, got) {
		t.Errorf("Paths of two projects are the same: %q", got)
	}
}

func TestPaths(t *testing.T) {
	project, runtime := newPlace(t)
	long := filepath.Join(runtime, strings.Repeat("long", 20))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(runtime, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		env  map[string]string
		want []string // folders
		err  string
	}{
		"runtime folder and home": {map[string]string{"XDG_RUNTIME_DIR": runtime, "HOME": "/h"}, []string{runtime + "/claude-swarm", "/h/.claude-swarm/run"}, ""},
		"home alone":              {map[string]string{"HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder missing":  {map[string]string{"XDG_RUNTIME_DIR": "/nowhere", "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder a file":   {map[string]string{"XDG_RUNTIME_DIR": file, "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder relative": {map[string]string{"XDG_RUNTIME_DIR": "run", "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder too long": {map[string]string{"XDG_RUNTIME_DIR": long, "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"all too long":            {map[string]string{"XDG_RUNTIME_DIR": long, "HOME": long}, nil, "longer than the 99 bytes"},
		"nothing":                 {nil, nil, "neither XDG_RUNTIME_DIR nor HOME is set"},
	} {
		t.Run(name, func(t *testing.T) {
			paths, err := discovery.Paths(project, env(tc.env))
			if tc.err != "" {
				pe, ok := errors.AsType[*discovery.PathError](err)
				if !ok || !strings.Contains(err.Error(), tc.err) || pe.Hint == "" {
					t.Fatalf("Paths = %q, %#v, want a PathError with a hint about %q", paths, err, tc.err)
				}
				return
			}
			var dirs []string
			for _, path := range paths {
				dirs = append(dirs, filepath.Dir(path))
			}
			if diff := cmp.Diff(tc.want, dirs); err != nil || diff != "" {
				t.Errorf("Paths: %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// newPlace creates a project and a runtime folder. It does not use t.TempDir, whose path
// contains the test's name, because a socket's path can be only about 100 bytes long.
func newPlace(t *testing.T) (project, runtime string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	project, runtime = filepath.Join(dir, "p"), filepath.Join(dir, "r")
	for _, d := range []string{project, runtime} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return project, runtime
}

// Listening returns true while a program is listening, but not for a socket that a crash
// left behind.
func TestListening(t *testing.T) {
	project, runtime := newPlace(t)
	getenv := env(map[string]string{"XDG_RUNTIME_DIR": runtime})
	if discovery.Listening(project, getenv) {
		t.Error("Listening = true, but there is no socket")
	}
	paths, err := discovery.Paths(project, getenv)
	if err != nil {
		t.Fatal(err)
	}
	if err := discovery.MakeFolder(filepath.Dir(paths[0])); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: paths[0], Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	if !discovery.Listening(project, getenv) {
		t.Error("Listening = false where somebody listens")
	}
	l.SetUnlinkOnClose(false) // the state after a crash
	l.Close()
	if discovery.Listening(project, getenv) {
		t.Error("Listening = true where nobody listens any more")
	}
}

// RemoveFolders removes only folders that are empty.
func TestRemoveFolders(t *testing.T) {
	project, runtime := newPlace(t)
	home := t.TempDir()
	getenv := env(map[string]string{"XDG_RUNTIME_DIR": runtime, "HOME": home})
	paths, err := discovery.Paths(project, getenv)
	if err != nil || len(paths) != 2 {
		t.Fatal(paths, err)
	}
	if err := discovery.RemoveFolders(project, env(nil)); err != nil {
		t.Errorf("without a folder for sockets: %v", err)
	}
	exist := func() (all []bool) {
		for _, path := range []string{filepath.Dir(paths[0]), filepath.Dir(paths[1]), filepath.Join(home, discovery.HomeName)} {
			_, err := os.Lstat(path)
			all = append(all, err == nil)
		}
		return all
	}
	other := filepath.Join(filepath.Dir(paths[1]), "other.sock")
	for _, step := range []struct {
		name   string
		before func() error
		want   []bool
	}{
		{"no folder", func() error { return nil }, []bool{false, false, false}},
		{"a socket of another project", func() error {
			return errors.Join(discovery.MakeFolder(filepath.Dir(paths[0])), discovery.MakeFolder(filepath.Dir(paths[1])), os.WriteFile(other, nil, 0o600))
		}, []bool{false, true, true}},
		{"another file in the home folder", func() error {
			return errors.Join(os.Remove(other), os.WriteFile(filepath.Join(home, discovery.HomeName, "mine"), nil, 0o600))
		}, []bool{false, false, true}},
		{"nothing else", func() error { return os.Remove(filepath.Join(home, discovery.HomeName, "mine")) }, []bool{false, false, false}},
		{"a symbolic link", func() error { return os.Symlink(t.TempDir(), filepath.Dir(paths[0])) }, []bool{true, false, false}},
	} {
		if err := step.before(); err != nil {
			t.Fatal(err)
		}
		err := discovery.RemoveFolders(project, getenv)
		if diff := cmp.Diff(step.want, exist()); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", step.name, err, diff)
		}
	}
}

// A folder that cannot be used for the socket is reported with its cause and a next step, and
// CheckFolder finds the same without creating anything.
func TestFoldersThatCannotBeUsed(t *testing.T) {
	dir := t.TempDir()
	file, open, link := filepath.Join(dir, "file"), filepath.Join(dir, "open"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(open, 0o700), os.Chmod(open, 0o755), os.Symlink(open, link)); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ path, problem, hint string }{
		"HOME is a file":   {filepath.Join(file, ".claude-swarm", "run"), "cannot be created (not a directory): HOME or XDG_RUNTIME_DIR must be", "export XDG_RUNTIME_DIR=/run/user/$(id -u)"},
		"no such file":     {"/proc/self/fd/.claude-swarm/run", "cannot be created (", "export XDG_RUNTIME_DIR=/run/user/$(id -u)"},
		"others can enter": {open, "is accessible to others (mode 0755)", "chmod 700 " + open},
		"a link":           {link, "is a symbolic link", "rm " + link},
	} {
		for what, check := range map[string]func(string) error{"CheckFolder": discovery.CheckFolder, "MakeFolder": discovery.MakeFolder} {
			if name == "no such file" && what == "CheckFolder" {
				continue // for root, the kernel calls the folder writable
			}
			err := check(tc.path)
			pe, ok := errors.AsType[*discovery.PathError](err)
			if !ok || !strings.Contains(pe.Problem, tc.problem) || !strings.HasPrefix(pe.Hint, tc.hint) {
				t.Errorf("%s, %s = %v, want a PathError that it %s, with the hint %s", name, what, err, tc.problem, tc.hint)
			}
		}
	}
	fresh := filepath.Join(dir, "fresh", "run")
	if err := discovery.CheckFolder(fresh); err != nil {
		t.Errorf("CheckFolder of a folder that can be created = %v", err)
	}
	if _, err := os.Lstat(filepath.Dir(fresh)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("CheckFolder created the folder: %v", err)
	}
}
