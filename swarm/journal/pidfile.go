package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// WritePIDFile says which process works for an agent, or waits for its next
// message, for scripts and people: its pid, its start time and its mark on one line.
// The daemon itself goes by the turn's record, where there is a turn.
func WritePIDFile(path string, p runner.Process, mark string) error {
	return os.WriteFile(path, fmt.Appendf(nil, "%d %d %s\n", p.PID, p.Start, mark), 0o600)
}

// MarkInPIDFile is the mark of the client that a daemon left to an agent; "" when
// it left none.
func MarkInPIDFile(path string) string {
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	if f := strings.Fields(string(data)); len(f) == 3 {
		return f[2]
	}
	return ""
}

// A Client is the process of an agent's backend.
type Client struct {
	Agent   string
	Process runner.Process
}

// LiveClients lists the clients that the agents' pid files name and that run: without
// a daemon, those that outlived it.
func (h Home) LiveClients() ([]Client, error) {
	agents, err := h.withPIDFile()
	if err != nil {
		return nil, err
	}
	var live []Client
	for _, agent := range agents {
		data, err := os.ReadFile(h.PIDFile(agent))
		if errors.Is(err, fs.ErrNotExist) {
			continue // ended meanwhile
		} else if err != nil {
			return nil, err
		}
		c := Client{Agent: agent}
		if _, err := fmt.Sscan(string(data), &c.Process.PID, &c.Process.Start); err == nil && c.Process.Alive() {
			live = append(live, c)
		}
	}
	return live, nil
}

// RemovePIDFile says that no process works any more. A file that cannot be
// removed tells of a process that has ended, which its start time shows.
func RemovePIDFile(path string) { _ = os.Remove(path) }
