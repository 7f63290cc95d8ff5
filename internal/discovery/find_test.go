package discovery_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	path, deep := filepath.Join(dir, discovery.ConfigName), filepath.Join(dir, "a", "b")
	// A folder with that name is not a configuration, so the search continues in the
	// folder above.
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.MkdirAll(filepath.Join(deep, discovery.ConfigName), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{dir, filepath.Dir(deep), deep} {
		if got, err := discovery.Find(from); got != path || err != nil {
			t.Errorf("Find(%q) = %q, %v, want %q", from, got, err, path)
		}
	}
	t.Chdir(deep)
	if got, err := discovery.Find("."); got != path || err != nil {
		t.Errorf("Find of the working folder = %q, %v, want %q", got, err, path)
	}
	if got, err := discovery.Find(t.TempDir()); !errors.Is(err, discovery.ErrNoProject) {
		t.Errorf("Find without a project = %q, %v, want ErrNoProject", got, err)
	}
}
