package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// loadInForce is loadProject for callers that work while a person edits the file. Inside a
// turn, and wherever a daemon runs, a mistake in the file leaves the daemon's configuration
// in force; loadInForce prints a warning then.
func loadInForce(c *cli.Context) (*project, error) {
	p, err := loadProject(c)
	if !isConfigError(err) {
		return p, err
	}
	path, missing := findConfig(c)
	if missing != nil {
		return nil, err
	}
	home := journal.HomeOf(filepath.Dir(path))
	if os.Getenv(runner.AgentVar) == "" && !lockHeld(home) {
		return nil, err
	}
	file := config.InForce(path)
	if file == nil {
		return nil, err
	}
	fmt.Fprintf(c.App.ErrWriter, "claude-swarm: the old configuration is in force, since the new one is bad: %s\n  try: claude-swarm config check\n", firstLine(err.Error()))
	return &project{dir: file.Dir, home: home, file: file}, nil
}

// openFolder opens the mailboxes for verbs that need only their folder, and finds out who
// calls. With a bad configuration it takes the folder of the configuration in force, or the
// default one. The caller closes the store.
func openFolder(c *cli.Context) (*dropbox.Store, journal.Identity, error) {
	var nobody journal.Identity
	path, err := findConfig(c)
	if err != nil {
		return nil, nobody, err
	}
	dir := filepath.Dir(path)
	me, err := journal.WhoAmI(journal.HomeOf(dir), os.Getenv)
	if err != nil {
		return nil, nobody, err
	}
	p, bad := loadProject(c)
	if bad == nil {
		store, err := p.openStore()
		return store, me, err
	}
	folder := filepath.Join(dir, ".dead-drop")
	if file := config.InForce(path); file != nil {
		folder = file.DeadDropDir
	}
	store, err := dropbox.Open(folder, dropbox.Options{})
	if err != nil {
		return nil, nobody, bad // the unreadable file names the folder
	}
	return store, me, nil
}
