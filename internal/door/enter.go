package door

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
		if _, err := os.Stat(named); err != nil {
			return "", &NoProjectError{Named: named}
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

// OpenStore opens the mailboxes of a project. The caller closes the store.
func OpenStore(file *config.File) (*dropbox.Store, error) {
	return dropbox.Open(file.DeadDropDir, file.StoreOptions())
}

// PlaceOf is a project as somebody finds it who comes in.
func PlaceOf(file *config.File, store *dropbox.Store) Place {
	return Place{Home: swarm.HomeOf(file.Dir), Store: store, Agents: file.Names(), Lead: file.Lead, Rules: PolicyOf(file), Chat: chatOf(file)}
}
