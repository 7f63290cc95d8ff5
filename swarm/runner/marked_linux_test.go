package runner_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A process is found even during exec, when it briefly has no environment.
func TestLeftoversThatChange(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(script)
	cmd.Env = append(os.Environ(), runner.MarkVar+"="+mark(t))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	missed := 0
	for range 2000 {
		if len(runner.Leftovers(mark(t))) != 1 {
			missed++
		}
	}
	// On an overloaded machine, the process may sleep in the middle of exec, so
	// EndLeftovers scans again.
	if missed > 20 {
		t.Errorf("missed %d times of 2000", missed)
	}
}
