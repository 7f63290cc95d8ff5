package main

import (
	"net"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/control"
)

// daemonRuns tells whether a daemon answers for this project. It only knocks:
// that costs a send a few microseconds, where a greeting waits for the daemon.
func (p *project) daemonRuns() bool {
	paths, err := control.Paths(p.file.Dir, os.Getenv)
	if err != nil {
		return false
	}
	for _, path := range paths {
		if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
			conn.Close()
			return true
		}
	}
	return false
}
