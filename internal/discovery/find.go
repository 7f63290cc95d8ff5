package discovery

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ConfigName is the name of a project's configuration file.
const ConfigName = "claude-swarm.yaml"

// HomeName is the name of the daemon's folder, which is next to the configuration.
const HomeName = ".claude-swarm"

// ErrNoProject is returned by [Find] if neither the folder nor any folder above it
// contains a claude-swarm.yaml.
var ErrNoProject = errors.New("no claude-swarm.yaml here or in any folder above")

// Find walks up from a folder to the first one that contains a claude-swarm.yaml, and
// returns the absolute path of that file. If the file was deleted while the project's
// daemon is running, the path is returned although there is no file. The error is
// [ErrNoProject] if no folder contains a project.
func Find(from string) (string, error) {
	dir, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, ConfigName)
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err // the file may exist, so a search further up could find the wrong project
		}
		above := filepath.Dir(dir)
		if above == dir {
			return deleted(from)
		}
		dir = above
	}
}

// deleted finds the configuration that was deleted, for example by git clean, while its
// daemon is running.
func deleted(from string) (string, error) {
	dir, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, held := Holder(filepath.Join(dir, HomeName, "daemon.lock")); held {
			return filepath.Join(dir, ConfigName), nil
		}
		if dir == filepath.Dir(dir) {
			return "", ErrNoProject
		}
	}
}
