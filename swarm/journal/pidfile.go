package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// WritePIDFile records which process is working for an agent or waiting for its next
// message: its pid, its start time and its mark on one line. The file is used by scripts,
// by people, for tracing, and by the daemon after a restart. During a turn, the daemon
// itself uses the turn's record.
func WritePIDFile(path string, p runner.Process, mark string) error {
	return os.WriteFile(path, fmt.Appendf(nil, "%d %d %s\n", p.PID, p.Start, mark), 0o600)
}

// MarkInPIDFile returns the mark in a pid file, which is the mark of the client that a
// daemon left running for an agent. It returns "" if there is no such file or mark.
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

// LiveClients lists the running clients that the agents' pid files name. If no daemon is
// running, these are the clients that outlived it.
func (h Home) LiveClients() ([]Client, error) {
	agents, err := h.withPIDFile()
	if err != nil {
		return nil, err
	}
	var live []Client
	for _, agent := range agents {
		data, err := os.ReadFile(h.PIDFile(agent))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the client has just ended
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

// RemovePIDFile removes the pid file of a process that has ended. It ignores errors: if
// the file remains, the start time in it shows that the process has ended.
func RemovePIDFile(path string) { _ = os.Remove(path) }
