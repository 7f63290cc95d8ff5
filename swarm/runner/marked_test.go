package runner_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Only the exact mark matches. Turn 1 does not match turn 10, and the same string in
// another variable is not a mark.
func TestLeftoversByMark(t *testing.T) {
	run := func(env ...string) *exec.Cmd {
		cmd := exec.Command("sleep", "600")
		cmd.Env = append(os.Environ(), env...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd
	}
	ours := run(runner.MarkVar + "=" + mark(t))
	run(runner.MarkVar + "=" + mark(t) + "0")
	run("NOTE=" + runner.MarkVar + "=" + mark(t))
	large := run(runner.MarkVar+"="+mark(t), "LARGE="+strings.Repeat("x", 100_000))

	var found []int
	for _, p := range runner.Leftovers(mark(t)) {
		found = append(found, p.PID)
	}
	slices.Sort(found)
	want := []int{ours.Process.Pid, large.Process.Pid}
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("Leftovers found %v, want %v", found, want)
	}
	if got := runner.Leftovers(""); got != nil {
		t.Errorf("Leftovers of no mark are %v", got)
	}
	if n := runner.EndLeftovers(mark(t), time.Second); n != 2 {
		t.Errorf("EndLeftovers = %d, want 2", n)
	}
	if left := runner.Leftovers(mark(t)); len(left) > 0 {
		t.Errorf("EndLeftovers left %v", left)
	}
}

// A process that reacts to SIGTERM by executing a program without the mark is terminated.
func TestEndLeftoversThatLoseTheMark(t *testing.T) {
	c, out := start(t, mark(t), "trap 'exec env -i sleep 600' TERM; echo ready; while :; do sleep 0.01; done")
	waitFor(t, out, "ready")
	defer c.Finish(0)
	runner.EndLeftovers(mark(t), time.Second)
	if c.Process().Alive() {
		t.Error("the process goes on without the mark")
	}
}

// The shell is the client, and it has a waiting child.
func TestUsage(t *testing.T) {
	c, out := start(t, mark(t), "sleep 600 & echo ready; while :; do :; done")
	waitFor(t, out, "ready")
	for deadline := time.Now().Add(patience); runner.CPUTime(mark(t)) < 50*time.Millisecond; {
		if time.Now().After(deadline) {
			t.Fatal("a process that spins uses no processor time")
		}
		time.Sleep(5 * time.Millisecond) // the interval between checks; the deadline limits their number
	}
	one, all := c.Process().Usage(), runner.UsageOf(mark(t))
	if one.CPU < 50*time.Millisecond || one.RSS < 64<<10 || one.RSS > 64<<20 {
		t.Errorf("a shell that spins uses %+v", one)
	}
	if all.RSS <= one.RSS || all.CPU < one.CPU {
		t.Errorf("with its child it uses %+v, alone %+v", all, one)
	}
	c.Finish(time.Second)
	if used := runner.UsageOf(mark(t)); used != (runner.Usage{}) {
		t.Errorf("a turn that has ended uses %+v", used)
	}
	if used := c.Process().Usage(); used != (runner.Usage{}) {
		t.Errorf("a process that has ended uses %+v", used)
	}
}

// A process that is waiting for a CPU is runnable, even if it gets very little CPU time.
// A process that is waiting for anything else is not.
func TestRunnable(t *testing.T) {
	c, out := start(t, mark(t), "echo ready; while :; do :; done")
	waitFor(t, out, "ready")
	for range 20 { // even while another process is using the CPU
		if !runner.Runnable(mark(t)) {
			t.Error("a shell that spins is not runnable")
		}
	}
	c.Finish(time.Second)

	c, out = start(t, mark(t), "echo waits; exec sleep 600")
	waitFor(t, out, "waits")
	for deadline := time.Now().Add(patience); runner.Runnable(mark(t)); {
		if time.Now().After(deadline) {
			t.Fatal("a process that sleeps is runnable")
		}
		time.Sleep(5 * time.Millisecond) // the interval between checks; the deadline limits their number
	}
	c.Finish(time.Second)
}
