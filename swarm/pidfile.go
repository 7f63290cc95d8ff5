package swarm

import (
	"fmt"
	"os"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// writePIDFile says which process works for an agent, or waits for its next
// message, for scripts and people: its pid, its start time and its mark on one line.
// The daemon itself goes by the turn's record, where there is a turn.
func writePIDFile(path string, p runner.Process, mark string) error {
	return os.WriteFile(path, fmt.Appendf(nil, "%d %d %s\n", p.PID, p.Start, mark), 0o600)
}

// markInPIDFile is the mark of the client that a daemon left to an agent; "" when
// it left none.
func markInPIDFile(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if f := strings.Fields(string(data)); len(f) == 3 {
		return f[2]
	}
	return ""
}

// removePIDFile says that no process works any more. A file that cannot be
// removed tells of a process that has ended, which its start time shows.
func removePIDFile(path string) { _ = os.Remove(path) }

func pid() int { return os.Getpid() }
