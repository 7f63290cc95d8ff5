package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ConfigVar is the environment variable that names the configuration file inside a turn if
// the file is not called claude-swarm.yaml. With this variable, claude-swarm finds the
// project even if the agent starts it in a different folder.
const ConfigVar = "CLAUDE_SWARM_CONFIG"

// A NoProjectError reports that no configuration was found.
type NoProjectError struct {
	From  string // the folder where the search began; "" when a file was named
	Named string
	Near  string // a file with a similar name, such as claude-swarm.yml; "" for none
}

func (e *NoProjectError) Error() string {
	if e.Named != "" {
		return "no configuration at " + e.Named
	}
	if e.Near != "" {
		return fmt.Sprintf("no %s in %s or a folder above it; there is %s, but this program reads %[1]s", config.Name, e.From, e.Near)
	}
	return fmt.Sprintf("no %s in %s or a folder above it", config.Name, e.From)
}

// FindConfig finds the configuration. It is the named file if named is not "". Otherwise,
// inside an agent's turn, it is the configuration of the agent's project. Outside a turn,
// it is claude-swarm.yaml in the working folder or the nearest folder above it. If there
// is no configuration, the error is a [*NoProjectError].
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
	path, err := discovery.Find(from)
	if err == nil && !exists(path) && config.InForce(path) == nil {
		err = discovery.ErrNoProject // the daemon there uses a file with a different name
	}
	if errors.Is(err, discovery.ErrNoProject) {
		return "", &NoProjectError{From: from, Near: discovery.MisnamedAbove(from)}
	}
	return path, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// mayName checks that an agent may name a configuration. Without this check, the program
// would read any file on behalf of the agent, and that file would decide what the agent
// may read. Therefore, an agent with a list of tools may name only the configuration of
// its project. The error is a [*FileError].
func mayName(named string, info os.FileInfo, getenv func(string) string) error {
	agent := getenv(runner.AgentVar)
	if agent == "" {
		return nil
	}
	own, err := FindConfig("", getenv)
	if err != nil {
		return nil // the turn belongs to no project, so its agent is in no configuration
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
		_, err := r.check(named, agentFolders{agent, file.Home(), file.DeadDropDir})
		return err
	}
	return &FileError{Path: named, Within: []string{own}}
}
