package control_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/control"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// Every caller, from wherever and by whichever way to the project, finds the
// same socket.
func TestEveryCallerAgrees(t *testing.T) {
	p := newPlace(t)
	link := filepath.Join(filepath.Dir(p.project), "link")
	if err := os.Symlink(p.project, link); err != nil {
		t.Fatal(err)
	}
	want, err := control.Paths(p.project, p.getenv)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(p.project)
	for _, way := range []string{link, p.project + "/", p.project + "/../p", "."} {
		got, err := control.Paths(way, p.getenv)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Paths(%q): %v (-want +got):\n%s", way, err, diff)
		}
	}
	other := filepath.Join(filepath.Dir(p.project), "q")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, _ := control.Paths(other, p.getenv); cmp.Equal(want, got) {
		t.Errorf("Paths of two projects are the same: %q", got)
	}
}

func TestPaths(t *testing.T) {
	p := newPlace(t)
	long := filepath.Join(p.runtime, strings.Repeat("long", 20))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.runtime, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		env  map[string]string
		want []string // folders
		err  string
	}{
		"runtime folder and home": {map[string]string{"XDG_RUNTIME_DIR": p.runtime, "HOME": "/h"}, []string{p.runtime + "/claude-swarm", "/h/.claude-swarm/run"}, ""},
		"home alone":              {map[string]string{"HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder missing":  {map[string]string{"XDG_RUNTIME_DIR": "/nowhere", "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder a file":   {map[string]string{"XDG_RUNTIME_DIR": file, "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder relative": {map[string]string{"XDG_RUNTIME_DIR": "run", "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"runtime folder too long": {map[string]string{"XDG_RUNTIME_DIR": long, "HOME": "/h"}, []string{"/h/.claude-swarm/run"}, ""},
		"all too long":            {map[string]string{"XDG_RUNTIME_DIR": long, "HOME": long}, nil, "longer than the 99 bytes"},
		"nothing":                 {nil, nil, "neither XDG_RUNTIME_DIR nor HOME is set"},
	} {
		t.Run(name, func(t *testing.T) {
			paths, err := control.Paths(p.project, env(tc.env))
			if tc.err != "" {
				pe, ok := errors.AsType[*control.PathError](err)
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

// The caller may have a runtime folder that the daemon had not; and the other
// way round it finds the daemon when somebody knows the path.
func TestCallerAndDaemonOfDifferentSessions(t *testing.T) {
	p := newPlace(t)
	home := filepath.Dir(p.project)
	serveAt := place{project: p.project}
	without := env(map[string]string{"HOME": home})
	l, err := control.Listen(serveAt.project, without)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(l.Addr().String())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v, want mode 0600", info.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(home, ".claude-swarm", "run")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder: %v, %v, want mode 0700", info.Mode(), err)
	}
	both := env(map[string]string{"HOME": home, "XDG_RUNTIME_DIR": p.runtime})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(`{"type":"hello","v":1,"version":"1.0"}` + "\n"))
			defer c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	c, err := control.Dial(t.Context(), p.project, "1.0", both)
	if err != nil {
		t.Fatalf("Dial with a runtime folder that the daemon had not: %v", err)
	}
	c.Close()
	elsewhere := env(map[string]string{"HOME": p.runtime})
	if _, err := control.Dial(t.Context(), p.project, "1.0", elsewhere, ""); !errors.Is(err, control.ErrNoDaemon) {
		t.Errorf("Dial with another home = %v, want ErrNoDaemon", err)
	}
	c, err = control.Dial(t.Context(), p.project, "1.0", elsewhere, l.Addr().String())
	if err != nil {
		t.Fatalf("Dial with another home and the path: %v", err)
	}
	c.Close()
}
