package standin

import (
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// lockPatience is how long to wait for the lock, which the agent's earlier client may
// still hold because a killed process's files are not closed until shortly after it
// ends.
const lockPatience = 50 * time.Millisecond

// lock takes the lock of the agent in STANDIN_LOCK. The lock is held until this process and
// every command that it started have ended. It therefore detects two clients of one agent
// that run at the same time, and a client that runs at the same time as a command left
// behind by another.
func (c *client) lock() error {
	dir := c.getenv("STANDIN_LOCK")
	if dir == "" {
		return nil
	}
	fd, err := syscall.Open(filepath.Join(dir, c.agent()), syscall.O_CREAT|syscall.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("STANDIN_LOCK: %w", err)
	}
	// The file is never closed. It is opened without O_CLOEXEC, so it stays open in child
	// processes.
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		err := syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil || err != syscall.EWOULDBLOCK {
			return err
		}
		if time.Since(began) > lockPatience {
			c.journal("overlap", prompt{uuid: "-"})
			return fmt.Errorf("STANDIN_LOCK: another client of %s, or one of its commands, is running", c.agent())
		}
	}
}

// agent returns the name for the journal and the lock.
func (c *client) agent() string {
	if name := c.getenv("CLAUDE_SWARM_AGENT"); name != "" {
		return name
	}
	return "-"
}
