package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// loadInForce is like loadProject, but for callers that must also work while a person
// edits the configuration file. If the file contains a mistake, and the caller is in a
// turn or a daemon is running, loadInForce prints a warning and returns the configuration
// that the daemon uses. It does the same if the file was deleted.
func loadInForce(c *cli.Context) (*project, error) {
	p, err := loadProject(c)
	gone := errors.Is(err, errConfigGone)
	if !gone && !isConfigError(err) {
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
	if gone {
		report(c.App.ErrWriter, err)
		return &project{dir: file.Dir, home: home, file: file}, nil
	}
	fmt.Fprintf(c.App.ErrWriter, "claude-swarm: the old configuration is in force, because the new one has a mistake: %s\n  try: claude-swarm config check\n", firstLine(err.Error()))
	return &project{dir: file.Dir, home: home, file: file}, nil
}

// openFolder opens the store and identifies the caller, for verbs that need only the
// store's folder from the configuration. If the configuration is invalid, openFolder uses
// the folder from the configuration in force or the default folder. The caller must close
// the store.
func openFolder(c *cli.Context) (*dropbox.Store, journal.Identity, error) {
	var nobody journal.Identity
	path, err := findConfig(c)
	if err != nil {
		return nil, nobody, err
	}
	dir := filepath.Dir(path)
	me, err := whoAmI(c.Context, dir)
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
		return nil, nobody, bad // the invalid configuration may specify another folder
	}
	if err := ownMailboxes(journal.HomeOf(dir), store); err != nil {
		return nil, nobody, errors.Join(err, store.Close())
	}
	return store, me, nil
}
