package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// A lockNote is what a daemon writes into its lock for people, and for a caller
// that looks for its socket in another place. The lock is the kernel's; the
// note may be old or missing.
type lockNote struct {
	PID     int
	Since   time.Time
	Version string
	Socket  string
}

func (n lockNote) text() string {
	return fmt.Sprintf("pid %d\nsince %s\nversion %s\nsocket %s\n", n.PID, n.Since.UTC().Format(time.RFC3339), n.Version, n.Socket)
}

// readLockNote reads the note, whoever left it.
func readLockNote(home swarm.Home) lockNote {
	var n lockNote
	data, err := os.ReadFile(home.LockFile())
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "pid":
			n.PID, _ = strconv.Atoi(value) // 0 is "not known", as if it were missing
		case "since":
			n.Since, _ = time.Parse(time.RFC3339, value)
		case "version":
			n.Version = value
		case "socket":
			n.Socket = value
		}
	}
	return n
}

// A runningError says that another daemon has the project.
type runningError struct{ note lockNote }

func (e *runningError) Error() string {
	s := "a daemon runs here already"
	if e.note.PID != 0 {
		s += fmt.Sprintf(": pid %d", e.note.PID)
	}
	if !e.note.Since.IsZero() {
		s += ", since " + clock(e.note.Since, time.Now())
	}
	if e.note.Version != "" {
		s += ", version " + e.note.Version
	}
	return s
}

// lockPatience is how long a new daemon tries: whoever only looks whether a
// daemon runs holds the lock for a moment too.
const lockPatience = 500 * time.Millisecond

// lockDaemon takes the lock that the one daemon of a project holds, until
// release or the end of the process. A second one gets a [runningError].
func lockDaemon(home swarm.Home) (release func() error, err error) {
	lock := flock.New(home.LockFile(), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	for deadline := time.Now().Add(lockPatience); ; time.Sleep(20 * time.Millisecond) {
		got, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("lock the project: %w", err)
		}
		if got {
			return lock.Unlock, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(&runningError{readLockNote(home)}, lock.Close())
		}
	}
}

// note writes into the lock who holds it.
func (n lockNote) write(home swarm.Home) error {
	return os.WriteFile(home.LockFile(), []byte(n.text()), 0o600)
}

// lockHeld tells whether a daemon holds the lock of a project.
func lockHeld(home swarm.Home) bool {
	lock := flock.New(home.LockFile(), flock.SetFlag(os.O_RDONLY))
	got, err := lock.TryRLock()
	if err != nil {
		return false // no such file: no daemon ever ran here
	}
	if got {
		_ = lock.Unlock() // closing the file frees it anyway
	}
	return !got
}
