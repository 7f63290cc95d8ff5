package config

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// inForceName is the name of the daemon's copy of the configuration in force. The first line
// of the copy is a comment that names the file.
const inForceName = "in-force.yaml"

const inForceMark = "# in force: "

// KeepInForce writes the content to the daemon's folder as the configuration in force.
// The write is durable because a partial copy, unlike a missing one, is harmful: it could
// be read as a different configuration.
func (f *File) KeepInForce(files durable.Files) error {
	path := InForcePath(f.Path)
	text := inForceMark + strconv.Quote(f.Path) + "\n" + string(f.source)
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	return files.Write(path, durable.Options{}, []byte(text))
}

// InForcePath returns the path of the daemon's copy of the configuration at path.
func InForcePath(path string) string {
	return filepath.Join(filepath.Dir(path), discovery.HomeName, inForceName)
}

// InForce returns the configuration that the project's daemon uses, or that the most recent
// daemon used, even if the file at path has changed since then. It returns nil if that
// configuration is unknown.
func InForce(path string) *File {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	data, err := os.ReadFile(InForcePath(path))
	if err != nil {
		return nil
	}
	text, ok := strings.CutPrefix(string(data), inForceMark+strconv.Quote(path)+"\n")
	if !ok {
		return nil // the copy was made from another file in this folder
	}
	f, err := Parse(path, []byte(text))
	if err != nil {
		return nil
	}
	return f
}
