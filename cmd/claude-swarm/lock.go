package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A runningError reports that another daemon is already running for the project.
type runningError struct{ note discovery.Note }

func (e *runningError) Error() string {
	s := "a daemon is already running here"
	if e.note.PID != 0 {
		s += fmt.Sprintf(": pid %d", e.note.PID)
	}
	if !e.note.Since.IsZero() {
		s += ", since " + screen.Clock(e.note.Since, time.Now())
	}
	if e.note.Version != "" {
		s += ", version " + e.note.Version
	}
	return s
}

// lockPatience is how long a new daemon keeps trying to acquire the lock. Retries are
// needed because a verb that checks whether a daemon is running briefly holds the lock.
const lockPatience = 500 * time.Millisecond

// lockDaemon acquires the lock that only one daemon of a project can hold. The daemon holds
// it until it calls release or its process ends. For a second daemon, lockDaemon returns a
// [runningError].
func lockDaemon(home journal.Home) (release func() error, err error) {
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
			return nil, errors.Join(&runningError{discovery.ReadNote(home.LockFile())}, lock.Close())
		}
	}
}

// A projectLock is the daemon's hold on the project's lock. The daemon can lock the file
// again after another program, such as git clean, has deleted it. Only one goroutine at a
// time may use it.
type projectLock struct {
	home     journal.Home
	file     os.FileInfo // the file that is locked
	releases []func() error
}

// lock acquires the lock; see [lockDaemon].
func (l *projectLock) lock() error {
	release, err := lockDaemon(l.home)
	if err != nil {
		return err
	}
	l.releases = append(l.releases, release)
	l.file, err = os.Lstat(l.home.LockFile())
	return err
}

// lost reports whether another program deleted or replaced the locked file. Another daemon
// could then lock the new file.
func (l *projectLock) lost() bool {
	is, err := os.Lstat(l.home.LockFile())
	return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(is, l.file)
}

func (l *projectLock) release() error {
	var errs []error
	for _, release := range l.releases {
		errs = append(errs, release())
	}
	return errors.Join(errs...)
}

// lockHeld reports whether a daemon holds a project's lock.
func lockHeld(home journal.Home) bool {
	_, held := discovery.Holder(home.LockFile())
	return held
}
