package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// whichConfig finds the configuration; see [client.FindConfig]. In a linked worktree of a git
// repository, it is the one in the main worktree, or else in the only other worktree, if a daemon
// runs there but not here. here is then the folder of the worktree, else "". The verbs about the file itself, and those that name
// it with --config, use the one in the worktree.
func whichConfig(c *cli.Context) (path, here string, err error) {
	path, err = client.FindConfig(c.String("config"), os.Getenv)
	if err != nil || c.String("config") != "" || os.Getenv(client.ConfigVar) != "" || os.Getenv(runner.DirVar) != "" || slices.Contains(ofFile, c.Command.Name) {
		return path, "", err
	}
	if other := discovery.DaemonFor(filepath.Dir(path)); other != "" {
		return other, filepath.Dir(path), nil
	}
	return path, "", nil
}

// inOtherWorktree says that no daemon runs for a project, but one for another worktree of its
// repository, and what to type there. The verbs do not use that daemon, because it was started for
// a separate swarm, or because there are several. Without such a daemon, it returns "".
func inOtherWorktree(project string) (why, next string) {
	others, _ := discovery.OtherDaemons(project)
	if len(others) == 0 {
		return "", ""
	}
	return "no daemon is running here, but one runs in another worktree of this repository, " + filepath.Dir(others[0]),
		"claude-swarm --config " + shellWord(others[0]) + " status   (or claude-swarm start, for a separate swarm here)"
}

// ofFile are the verbs about the configuration file and this machine.
var ofFile = []string{"check", "config", "doctor", "init", "compat"}

// findConfig is like whichConfig, and prints a warning in a linked worktree, once for each verb.
// status shows it instead.
func findConfig(c *cli.Context) (string, error) {
	path, here, err := whichConfig(c)
	if here != "" && c.App.Metadata[worktreeSaid] == nil && c.Command.Name != completeName && c.Command.Name != "status" {
		if c.App.Metadata == nil {
			c.App.Metadata = map[string]any{}
		}
		c.App.Metadata[worktreeSaid] = true
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n  try: %s\n", provision.LinkedWorktree(here, path), provision.OwnSwarm)
	}
	if none, ok := errors.AsType[*client.NoProjectError](err); ok {
		next := "claude-swarm init"
		if none.Near != "" {
			next = renameConfig(none.Near)
		}
		return "", fail(exitUnknown, next, "%w", err)
	}
	if isFileError(err) {
		return "", hintFile(err)
	}
	return path, err
}

// renameConfig returns the command that gives a configuration its right name.
func renameConfig(path string) string {
	return "mv " + shellWord(path) + " " + shellWord(filepath.Join(filepath.Dir(path), config.Name))
}

// worktreeSaid marks in the program's metadata that the warning of findConfig was printed.
const worktreeSaid = "worktree said"

// A project is a swarm's folder, with its configuration and the daemon's files. It does not
// need a running daemon.
type project struct {
	dir  string // the folder that contains the configuration
	home journal.Home
	file *config.File // nil if the project comes from locate
}

// locate finds the project without reading its configuration. Therefore, a verb that only
// communicates with the daemon works even while a person is editing the file.
func locate(c *cli.Context) (*project, error) {
	path, err := findConfig(c)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	return &project{dir: dir, home: journal.HomeOf(dir)}, nil
}

// loadProject finds and reads the configuration. The error for an invalid configuration
// has exit status 78.
func loadProject(c *cli.Context) (*project, error) {
	path, err := findConfig(c)
	if err != nil {
		return nil, err
	}
	file, err := config.Load(path)
	if errors.Is(err, fs.ErrNotExist) && config.InForce(path) != nil {
		return nil, configGone(path)
	} else if err != nil {
		return nil, badConfig(err)
	}
	return &project{dir: file.Dir, home: journal.HomeOf(file.Dir), file: file}, nil
}

// badConfig adds the exit status and a hint to the errors in a configuration. The hint is
// the one from the first error or, if that error has no hint, the command that opens an
// editor at its line.
func badConfig(err error) error {
	if _, ok := errors.AsType[*hintError](err); ok {
		return err // the error already has a hint
	}
	next := nextStep(err)
	if errs, ok := errors.AsType[config.Errors](err); ok {
		first := errs[0]
		next = cmp.Or(first.Try, fmt.Sprintf("${EDITOR:-vi} +%d %s", first.Line, shellWord(first.Path)))
	}
	return &hintError{err: err, code: exitConfig, hint: cmp.Or(next, "claude-swarm doctor")}
}

// openStore opens the project's mailboxes, unless the daemon of another project works with
// them. The caller must close the store.
func (p *project) openStore() (*dropbox.Store, error) {
	store, err := dropbox.Open(p.file.DeadDropDir, p.storeOptions())
	switch {
	case errors.Is(err, dropbox.ErrNoStore):
		if why, next := inOtherWorktree(p.dir); why != "" {
			return nil, fail(exitUnknown, next, "no mailboxes at %s: %s", p.file.DeadDropDir, why)
		}
		return nil, fail(exitUnknown, "claude-swarm init", "no mailboxes at %s", p.file.DeadDropDir)
	case err != nil:
		return nil, err
	}
	if err := ownMailboxes(p.home, store); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

func (p *project) storeOptions() dropbox.Options {
	return p.file.StoreOptions()
}

// agent returns the agent with the given name. next is the command that the error for an
// unknown name suggests, with %s in place of the correct name.
func (p *project) agent(name, next string) (config.Agent, error) {
	if a, ok := p.file.Agent(name); ok {
		return a, nil
	}
	return config.Agent{}, unknownAgent(name, dropbox.Nearest(name, p.file.Names()), p.file.Names(), next)
}

// agents checks names and returns them. Without names, it returns all agents.
func (p *project) agents(names []string, next string) ([]string, error) {
	for _, name := range names {
		if _, err := p.agent(name, next); err != nil {
			return nil, err
		}
	}
	if len(names) == 0 {
		return p.file.Names(), nil
	}
	return names, nil
}
