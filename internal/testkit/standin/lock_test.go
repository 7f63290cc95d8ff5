package standin_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The lock detects two clients of one agent, and a client that runs at the same time as a
// command left behind by the earlier client.
func TestLock(t *testing.T) {
	p := newPlace(t)
	log := filepath.Join(t.TempDir(), "log")
	env := []string{"STANDIN_LOG=" + log, "STANDIN_LOCK=" + t.TempDir()}
	p.env = append(env, "CLAUDE_SWARM_AGENT=coder")
	first := p.start(stream...)
	first.send(uuidA, "@sh sleep 600 & echo $! >pid")
	waitFor(t, "the command", func() bool {
		data, err := os.ReadFile(filepath.Join(p.dir, "pid"))
		return err == nil && len(data) > 1
	})
	data, err := os.ReadFile(filepath.Join(p.dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	left, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(left, syscall.SIGKILL)

	refused := func(when string, want bool) {
		t.Helper()
		if lines, status := p.start(stream...).end(); (status == 1 && len(lines) == 0) != want {
			t.Errorf("%s: status %d, %d lines; want it refused: %v", when, status, len(lines), want)
		}
	}
	refused("beside a running client", true)
	p.env = append(env, "CLAUDE_SWARM_AGENT=reviewer")
	refused("another agent", false)
	p.env = append(env, "CLAUDE_SWARM_AGENT=coder")
	first.end()
	refused("beside what a client left", true)
	syscall.Kill(left, syscall.SIGKILL)
	refused("when all have ended", false)

	data, err = os.ReadFile(log)
	if n := strings.Count(string(data), "overlap coder - "); err != nil || n != 2 {
		t.Errorf("the log reports %d overlaps (%v), want twice:\n%s", n, err, data)
	}
}
