package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
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
	err = fail(exitFailed, "claude-swarm status", "the lock of this daemon was deleted, and another daemon works here now: %w", err)
	if d.ends(err) {
		d.log.Error("another daemon has taken over the project, because the lock was deleted", "err", err)
		d.Shutdown("another daemon", false)
	}
}

// moved ends the daemon, and the turns that are running, because the project is no longer at its
// path. The agents' mail waits in the folder where it is now, and the lead finds there why.
func (d *daemon) moved(err error) {
	at := d.socket.project.dir
	if !d.ends(fail(exitFailed, "claude-swarm start, in the folder where the project is now", "the project was moved or deleted: %w", err)) {
		return
	}
	d.log.Error("the project is no longer at its path, so the daemon ends", "err", err)
	// The swarm's own way to the lead needs the folder at its path. The store follows the folder.
	_, err = d.irc.store.Deliver(dropbox.Lead, &dropbox.Message{
		From: dropbox.Swarm, Type: dropbox.Status, Subject: "the daemon has ended, because the project was moved",
		Body: []byte("The project was moved from " + at + " while its daemon was running. To continue here: claude-swarm start\n"),
	})
	if err != nil {
		d.log.Info("the lead could not be told", "err", err) // the project was deleted
	}
	d.Shutdown("the project was moved", true)
}

// ends records why the daemon ends, and reports whether this is the first reason.
func (d *daemon) ends(why error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over != nil {
		return false
	}
	d.over = why
	return true
}

// endedBy returns the error with which a daemon that nobody stopped ends, or nil.
func (d *daemon) endedBy() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.over
}

// errConfigGone means that the configuration was deleted, but the daemon has a copy of it.
var errConfigGone = errors.New("the daemon has a copy")

// configGone returns the error for a deleted configuration.
func configGone(path string) error {
	return fail(exitConfig, provision.CopyBack(path), "%s is gone, but %w", path, errConfigGone)
}

// mayConfigure returns an error if the configuration in dir was deleted while a daemon works
// with a copy of it. A new configuration would have other agents.
func mayConfigure(dir string) error {
	path := filepath.Join(dir, config.Name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && lockHeld(journal.HomeOf(dir)) && config.InForce(path) != nil {
		return configGone(path)
	}
	return nil
}

// missingConfig returns the problem that the configuration in force was deleted or moved
// away, or nil. A project that was moved lacks the copy too.
func (d *daemon) missingConfig() *swarm.Problem {
	path := d.file.Path
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(config.InForcePath(path)); err != nil {
		return nil
	}
	return &swarm.Problem{Why: configGone(path).Error() + " and works with it", Next: provision.CopyBack(path)}
}
