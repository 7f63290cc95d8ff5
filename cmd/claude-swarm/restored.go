package main

import (
	"errors"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// restored locks the project again after another program, such as git clean, has deleted
// the daemon's files, and writes the daemon's own files that the verbs read. The swarm calls
// it from one goroutine.
func (d *daemon) restored() error {
	home := d.socket.project.home
	if d.lock.lost() {
		if err := d.lock.lock(); err != nil {
			if _, runs := errors.AsType[*runningError](err); runs {
				d.displaced(err)
			}
			return err
		}
	}
	d.keepConfig()
	d.savePast(home.GateFile())
	return errors.Join(d.socket.noteAgain(), d.logFile.Close())
}

// displaced stops the daemon, because the project's lock was deleted and another daemon has
// locked the project in the meantime. Turns that are running end first.
func (d *daemon) displaced(err error) {
	d.mu.Lock()
	first := d.taken == nil
	d.taken = err
	d.mu.Unlock()
	if first {
		d.log.Error("another daemon has taken over the project, because the lock was deleted", "err", err)
		d.Shutdown("another daemon", false)
	}
}

// displacedBy returns the error with which a displaced daemon ends, or nil.
func (d *daemon) displacedBy() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.taken == nil {
		return nil
	}
	return fail(exitFailed, "claude-swarm status", "the lock of this daemon was deleted, and another daemon works here now: %w", d.taken)
}

// errConfigGone means that the configuration was deleted, but the daemon has a copy of it.
var errConfigGone = errors.New("the daemon has a copy")

// configGone returns the error for a deleted configuration.
func configGone(path string) error {
	copied := config.InForcePath(path)
	return fail(exitConfig, "cp "+shellWord(copied)+" "+shellWord(path), "%s is gone, but %w", path, errConfigGone)
}
