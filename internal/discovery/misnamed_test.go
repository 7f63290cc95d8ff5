package discovery_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

func TestMisnamed(t *testing.T) {
	for name, want := range map[string]bool{
		"claude-swarm.yml": true, "claude_swarm.yaml": true, "claudeswarm.yml": true, "Claude-Swarm.YAML": true, ".claude-swarm.yaml": true,
		"claude-swarm.yaml.txt": true, "claude-swarm.yaml": false, "claude-swarm.json": false, "swarm.yml": false, "claude-swarm.yaml.old": false,
	} {
		dir := t.TempDir()
		path, below := filepath.Join(dir, name), filepath.Join(dir, "a", "b")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(below, 0o700); err != nil {
			t.Fatal(err)
		}
		if !want {
			path = ""
		}
		if got := discovery.Misnamed(dir); got != path {
			t.Errorf("Misnamed with %s = %q, want %q", name, got, path)
		}
		if got := discovery.MisnamedAbove(below); got != path {
			t.Errorf("MisnamedAbove with %s = %q, want %q", name, got, path)
		}
		if got := discovery.Misnamed(below); got != "" {
			t.Errorf("Misnamed below %s = %q", name, got)
		}
	}
}
