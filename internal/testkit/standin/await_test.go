package standin_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// TestAwait checks that a turn that waits for a file is silent until the file exists.
func TestAwait(t *testing.T) {
	p := newPlace(t)
	r := p.start(stream...)
	r.send("", "@say begun\n@await go-on\n@say seen")
	r.until("assistant")
	if err := os.WriteFile(filepath.Join(p.dir, "go-on"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lines, status := r.end()
	if got := last(t, lines).str("result"); got != "seen" || status != 0 {
		t.Errorf("result %q, status %d, want seen", got, status)
	}
}

// TestAnIgnoredSignalIsLogged checks that a deaf turn logs the signals that it ignores.
func TestAnIgnoredSignalIsLogged(t *testing.T) {
	need.Program(t, "grep")
	p := newPlace(t)
	p.env = []string{"STANDIN_LOG=" + filepath.Join(p.dir, "log")}
	r := p.start(stream...)
	r.send("", "@deaf\n@say deaf\n@sh until grep -q \"^unheard - - $PPID terminated\" log; do sleep 0.01; done\n@say survived")
	r.until("assistant")
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	lines, status := r.end()
	if got := last(t, lines).str("result"); got != "survived" || status != 0 {
		t.Errorf("result %q, status %d, want survived", got, status)
	}
}
