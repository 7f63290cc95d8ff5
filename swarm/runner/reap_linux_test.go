package runner_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ReapAdopted reaps an orphan that has ended. It does not take the exit status of a
// process for which os/exec is waiting, or of a client, however long that one is not asked
// for it.
func TestReapAdopted(t *testing.T) {
	grouped := exec.Command("sh", "-c", "exit 6") // in our own process group
	if err := grouped.Start(); err != nil {
		t.Fatal(err)
	}
	client, _ := start(t, mark(t), "exit 7")
	own := exec.Command("sh", "-c", "exit 5")
	own.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	need.Program(t, "setsid")
	out, err := exec.Command("sh", "-c", "setsid sleep 0.1 >/dev/null 2>&1 & echo $!").Output()
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	// The first call reaps nothing, so that os/exec gets the exit status of its process.
	if n := runner.ReapAdopted(); n != 0 {
		t.Errorf("the first ReapAdopted reaped %d", n)
	}
	if err := own.Wait(); own.ProcessState.ExitCode() != 5 {
		t.Errorf("the process of os/exec ended with %v, want status 5", err)
	}
	reaped := 0
	for deadline := time.Now().Add(patience); syscall.Kill(orphan, 0) == nil; {
		reaped += runner.ReapAdopted()
		if time.Now().After(deadline) {
			t.Fatalf("the orphan %d was not reaped", orphan)
		}
		time.Sleep(2 * time.Millisecond) // the interval between checks; the deadline limits their number
	}
	if reaped == 0 {
		t.Error("ReapAdopted says that it reaped nothing")
	}
	<-client.Exited()
	ours, err := runner.Identify(grouped.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for ours.Alive() {
		time.Sleep(2 * time.Millisecond) // the interval between checks
	}
	for range 2 { // the first call only notes what has ended
		runner.ReapAdopted()
	}
	if err := grouped.Wait(); grouped.ProcessState.ExitCode() != 6 {
		t.Errorf("the process in our group ended with %v, want status 6", err)
	}
	if e := client.Finish(0); e.ExitCode != 7 {
		t.Errorf("the client ended with %+v, want status 7", e)
	}
}

// EndAdopted terminates processes that a turn left behind, including their children,
// processes without a mark, and processes that ignore SIGTERM. It does not terminate a
// process for which os/exec is waiting.
func TestEndAdopted(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	own := exec.Command("sleep", "600") // in our own process group
	if err := own.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = own.Process.Kill()
		_ = own.Wait()
	}()
	deaf := filepath.Join(t.TempDir(), "deaf")
	need.Program(t, "setsid")
	out, err := exec.Command("sh", "-c", `
		env -i PATH="$PATH" setsid sleep 600 >/dev/null 2>&1 & echo $!
		env -i PATH="$PATH" setsid sh -c 'trap "" TERM; sleep 600 & : >"$0"; while :; do sleep 0.1; done' "$0" >/dev/null 2>&1 & echo $!
		until [ -e "$0" ]; do sleep 0.01; done`, deaf).Output()
	if err != nil {
		t.Fatal(err)
	}
	if n := runner.EndAdopted(200 * time.Millisecond); n < 2 {
		t.Errorf("EndAdopted = %d, want 2 or more", n)
	}
	for _, line := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(line)
		if err != nil {
			t.Fatal(err)
		}
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("the orphan %d still runs", pid)
		}
	}
	if err := syscall.Kill(own.Process.Pid, 0); err != nil {
		t.Errorf("our own child: %v", err)
	}
}
