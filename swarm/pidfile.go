package swarm

import (
	"fmt"
	"os"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// writePIDFile says which process works for an agent, for scripts and people:
// its pid and its start time on one line. The daemon itself goes by the turn's
// record.
func writePIDFile(path string, p runner.Process) error {
	return os.WriteFile(path, fmt.Appendf(nil, "%d %d\n", p.PID, p.Start), 0o600)
}

// removePIDFile says that no process works any more. A file that cannot be
// removed tells of a process that has ended, which its start time shows.
func removePIDFile(path string) { _ = os.Remove(path) }

func pid() int { return os.Getpid() }
