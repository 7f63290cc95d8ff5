package runner_test

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An orphan that ended is reaped, and a process that os/exec waits for keeps its
// exit status.
func TestReapAdopted(t *testing.T) {
	own := exec.Command("sh", "-c", "exit 5")
	own.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", "setsid sleep 0.1 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	// The first look takes nothing: whoever waits gets the status.
	if n := runner.ReapAdopted(); n != 0 {
		t.Errorf("the first ReapAdopted reaped %d", n)
	}
	if err := own.Wait(); own.ProcessState.ExitCode() != 5 {
		t.Errorf("the process of os/exec ended with %v, want status 5", err)
	}
	reaped := 0
	for deadline := time.Now().Add(20 * time.Second); syscall.Kill(orphan, 0) == nil; {
		reaped += runner.ReapAdopted()
		if time.Now().After(deadline) {
			t.Fatalf("the orphan %d was not reaped", orphan)
		}
		time.Sleep(2 * time.Millisecond) // between two looks, bounded by the deadline
	}
	if reaped == 0 {
		t.Error("ReapAdopted says that it reaped nothing")
	}
}
