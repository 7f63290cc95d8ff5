package rendezvous

import (
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// Keep writes a small file of the daemon's folder that the verbs read. It may be
// missing, so it need not be durable, but it is never there by half. What has this
// text already is left alone.
func Keep(home, name, text string) error {
	path := filepath.Join(home, name)
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	return durable.Files{}.Write(path, durable.Options{Volatile: true}, []byte(text))
}
