package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ConfigVar names the configuration inside a turn where its file has another name
// than claude-swarm.yaml, so that an agent's own claude-swarm finds the project from
// wherever the agent works.
const ConfigVar = "CLAUDE_SWARM_CONFIG"

// A NoProjectError says where no configuration is.
type NoProjectError struct {
	From  string // the folder from which it was looked for; "" when a file was named
	Named string
}

func (e *NoProjectError) Error() string {
	if e.Named != "" {
		return "no configuration at " + e.Named
	}
	return fmt.Sprintf("no %s in %s or a folder above it", config.Name, e.From)
}

// FindConfig finds the configuration: the one that was named; inside an agent's turn
// that of its project; else claude-swarm.yaml in this folder or the nearest one above
// it. Where there is none the error is a [*NoProjectError].
func FindConfig(named string, getenv func(string) string) (string, error) {
	if named != "" {
		info, err := os.Stat(named)
		if err != nil {
			return "", &NoProjectError{Named: named}
		}
		if err := mayName(named, info, getenv); err != nil {
			return "", err
		}
		return filepath.Abs(named)
	}
	if path := getenv(ConfigVar); path != "" {
		return path, nil
	}
	from := getenv(runner.DirVar)
	if from == "" {
		dir, err := os.Getwd()
		if err != nil {
			return "", err
		}
		from = dir
	}
	path, err := rendezvous.Find(from)
	if errors.Is(err, rendezvous.ErrNoProject) {
		return "", &NoProjectError{From: from}
	}
	return path, err
}

// mayName checks that an agent may name a configuration. Another one than that of its
// project is a file that it makes us read, and says itself what the agent may read: an
// agent that is bound by a list of tools may not name it. The error is a [*FileError].
func mayName(named string, info os.FileInfo, getenv func(string) string) error {
	agent := getenv(runner.AgentVar)
	if agent == "" {
		return nil
	}
	own, err := FindConfig("", getenv)
	if err != nil {
		return nil // the turn is in no project, so it is of none of our agents
	}
	if its, err := os.Stat(own); err == nil && os.SameFile(its, info) {
		return nil
	}
	file, err := config.Load(own)
	if err != nil {
		file = config.InForce(own)
	}
	if file == nil {
		return &FileError{Path: named, Within: []string{own}}
	}
	a, ok := file.Agent(agent)
	if r := ReadingOf(a); ok && r.unbound() {
		_, err := r.check(named, agentPlace{agent, file.Home(), file.DeadDropDir})
		return err
	}
	return &FileError{Path: named, Within: []string{own}}
}

// OpenStore opens the mailboxes of a project. The caller closes the store.
func OpenStore(file *config.File) (*dropbox.Store, error) {
	return dropbox.Open(file.DeadDropDir, file.StoreOptions())
}

// ProjectOf is a project as somebody finds it who comes in.
func ProjectOf(file *config.File, store *dropbox.Store) Project {
	p := Project{Home: swarm.HomeOf(file.Dir), Store: store, Agents: file.Names(), Lead: file.Lead, LeadName: file.LeadName, CCLead: file.CCLead(), Rules: PolicyOf(file), Chat: chatOf(file), Reading: map[string]Reading{}}
	for _, a := range file.Agents {
		p.Reading[a.Name] = ReadingOf(a)
	}
	return p
}
