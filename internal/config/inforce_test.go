package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
)

// The copy of the configuration in force does not change if a mistake is introduced into
// the file, and is not used for any other file.
func TestInForce(t *testing.T) {
	path := write(t, "dead_drop_dir: drop\nagents:\n  coder: {}\n")
	file, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := config.InForce(path); got != nil {
		t.Errorf("InForce(%q) = %v before anything was kept, want nil", path, got)
	}
	if err := os.Mkdir(file.Home(), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := file.KeepInForce(durable.Files{}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("agents: {"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := config.InForce(path)
	if got == nil || got.DeadDropDir != file.DeadDropDir || string(got.Source()) != string(file.Source()) {
		t.Errorf("InForce(%q) = %+v, want %+v", path, got, file)
	}
	other := filepath.Join(filepath.Dir(path), "other.yaml")
	if got := config.InForce(other); got != nil {
		t.Errorf("InForce(%q) = %v, which is another file's", other, got)
	}
}

// A power failure leaves either the old copy or the new one, because a partial copy could
// be read as a different configuration.
func TestInForceAfterAPowerCut(t *testing.T) {
	path := write(t, "agents:\n  coder: {}\n")
	file, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file.Home(), 0o700); err != nil {
		t.Fatal(err)
	}
	durabletest.Check(t, filepath.Join(file.Home(), "in-force.yaml"), func(files durable.Files, n int) error {
		text := fmt.Sprintf("agents:\n  coder: {zone: \"%d\"}\n", n)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
		file, err := config.Load(path)
		if err != nil {
			return err
		}
		return file.KeepInForce(files)
	})
}
