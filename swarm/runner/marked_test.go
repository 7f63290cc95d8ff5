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

// Only the very mark counts: turn 1 is not turn 10, and a word in another
// variable is none.
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

func TestCPUTime(t *testing.T) {
	c, out := start(t, mark(t), "echo ready; while :; do :; done")
	waitFor(t, out, "ready")
	for deadline := time.Now().Add(20 * time.Second); runner.CPUTime(mark(t)) < 50*time.Millisecond; {
		if time.Now().After(deadline) {
			t.Fatal("a process that spins uses no processor time")
		}
		time.Sleep(5 * time.Millisecond) // between two looks, bounded by the deadline
	}
	c.Finish(mark(t), time.Second)
	if used := runner.CPUTime(mark(t)); used != 0 {
		t.Errorf("a turn that has ended uses %v", used)
	}
}
