package control_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/control"
)

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

// A caller that has a runtime folder finds a daemon that was started without one. A
// caller with a different home folder finds the daemon only if it knows the path of the
// socket.
func TestCallerAndDaemonOfDifferentSessions(t *testing.T) {
	p := newProject(t)
	home := filepath.Dir(p.project)
	serveAt := project{project: p.project}
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
		t.Fatalf("Dial with a runtime folder that the daemon did not have: %v", err)
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
