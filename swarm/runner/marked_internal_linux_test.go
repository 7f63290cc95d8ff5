package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A process that runs exec all the time has no readable environment for some moments, but
// it is recognized.
func TestAProcessThatKeepsCallingExec(t *testing.T) {
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	const entry = MarkVar + "=exec-1"
	cmd := exec.Command(script)
	cmd.Env = append(os.Environ(), entry)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	var r environReader
	missed := 0
	for range 20000 {
		if !r.carries(cmd.Process.Pid, []byte(entry)) {
			missed++
		}
	}
	// On an overloaded machine, the process may sleep in the middle of exec, so
	// EndLeftovers scans again. A reader without patience would miss the process several
	// hundred times.
	if missed > 100 {
		t.Errorf("missed %d times of 20000", missed)
	}
}
