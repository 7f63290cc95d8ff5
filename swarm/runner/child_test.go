package runner_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// start runs a short shell script as the client of a turn.
func start(t *testing.T, mark, lines string) (*runner.Child, string) {
	t.Helper()
	need.Script(t, lines)
	out := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	env := runner.Environ(os.Environ(), runner.EnvOptions{Agent: "coder", TurnID: mark})
	c, err := runner.Start(runner.Command{Args: []string{"sh", "-c", lines}, Dir: t.TempDir(), Env: env, Stdout: f, Stderr: f})
	if err != nil {
		t.Fatal(err)
	}
	return c, out
}

// patience is how long a test waits for a condition before it fails.
const patience = 2 * time.Minute

// waitFor waits until the file contains want.
func waitFor(t *testing.T, file, want string) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		data, _ := os.ReadFile(file)
		if strings.Contains(string(data), want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s holds %q, want %q", file, data, want)
		}
		time.Sleep(2 * time.Millisecond) // the interval between checks; the deadline limits their number
	}
}

// mark returns the mark of a test. It names the process of the tests, because two runs at the same
// time would otherwise end each other's processes.
func mark(t *testing.T) string {
	return fmt.Sprintf("%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid())
}

func TestChildEndsByItself(t *testing.T) {
	c, out := start(t, mark(t), "read line; echo got $line; exit 3")
	if !c.Process().Alive() {
		t.Error("a client that waits for its input is not alive")
	}
	c.Stdin().Write([]byte("hello\n"))
	<-c.Exited()
	if c.Process().Alive() {
		t.Error("a client that has ended is alive")
	}
	if e := c.Finish(time.Second); e != (runner.Exit{ExitCode: 3}) {
		t.Errorf("Finish = %+v, want status 3", e)
	}
	waitFor(t, out, "got hello")
}

// Finish terminates the whole group as well as processes that have left it.
func TestFinishLeavesNothing(t *testing.T) {
	c, out := start(t, mark(t), "sleep 600 & setsid sleep 601 & (setsid sh -c 'trap \"\" TERM; echo deaf; while :; do sleep 602; done' &); echo ready; wait")
	waitFor(t, out, "ready")
	waitFor(t, out, "deaf")
	e := c.Finish(100 * time.Millisecond)
	if e.Signal != "killed" || e.ExitCode != -1 {
		t.Errorf("Finish = %+v, want a killed leader", e)
	}
	if e.Leftovers < 2 {
		t.Errorf("%d leftovers were ended, want those of the two other sessions", e.Leftovers)
	}
	if left := runner.Leftovers(mark(t)); len(left) > 0 {
		t.Errorf("Finish left %v", left)
	}
	if err := syscall.Kill(-c.Process().PID, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the group is still there: %v", err)
	}
}

// A client gets one signal after the other until one of them ends it. The test climbs the
// ladder as soon as the client has handled a signal; TestLadderSteps tests the times.
func TestLadder(t *testing.T) {
	for name, c := range map[string]struct {
		lines  string
		heard  []string // the signals that do not end the client, in order
		exit   int
		signal string
	}{
		"obeys the interrupt":   {lines: "trap 'exit 7' INT", exit: 7},
		"obeys the termination": {lines: "trap 'echo INT' INT; trap 'exit 8' TERM", heard: []string{"INT"}, exit: 8},
		"obeys nothing":         {lines: "trap 'echo INT' INT; trap 'echo TERM' TERM", heard: []string{"INT", "TERM"}, exit: -1, signal: "killed"},
	} {
		t.Run(name, func(t *testing.T) {
			child, out := start(t, mark(t), c.lines+"; echo ready; while :; do sleep 0.02; done")
			waitFor(t, out, "ready")
			var ladder runner.Ladder
			ladder.Begin(child, time.Now())
			for _, signal := range c.heard {
				waitFor(t, out, signal)
				ladder.Climb(child, ladder.Due())
			}
			<-child.Exited()
			if e := child.Finish(100 * time.Millisecond); e.ExitCode != c.exit || e.Signal != c.signal {
				t.Errorf("exit is %+v, want %d %q", e, c.exit, c.signal)
			}
		})
	}
}

// The ladder takes each step once, and not before the step is due.
func TestLadderSteps(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC)
	var c recorder
	var l runner.Ladder
	if l.Climb(&c, now); l.Begun() || c.calls != "" {
		t.Errorf("a ladder that was not begun did %q", c.calls)
	}
	l.Begin(&c, now)
	l.Begin(&c, now.Add(time.Second))
	l.Climb(&c, now.Add(9*time.Second))
	l.Climb(&c, now.Add(10*time.Second))
	l.Climb(&c, now.Add(14*time.Second))
	l.Climb(&c, now.Add(15*time.Second))
	l.Climb(&c, now.Add(time.Hour))
	l.BeginAtKill(&c, now.Add(time.Hour))
	if want := "interrupt terminate kill "; c.calls != want || !l.Due().IsZero() {
		t.Errorf("the ladder did %q, next at %v; want %q and no more", c.calls, l.Due(), want)
	}
}

// A client that has finished its work gets SIGTERM without a preceding SIGINT.
func TestLadderFromTheTermination(t *testing.T) {
	now := time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC)
	var c recorder
	var l runner.Ladder
	l.BeginAtTerminate(&c, now)
	l.BeginAtTerminate(&c, now.Add(time.Second))
	l.Begin(&c, now.Add(time.Second))
	l.Climb(&c, now.Add(4*time.Second))
	if want := "terminate "; c.calls != want || !l.Due().Equal(now.Add(5*time.Second)) {
		t.Errorf("the ladder did %q, next at %v; want %q and the kill after 5 s", c.calls, l.Due(), want)
	}
	l.Climb(&c, l.Due())
	if want := "terminate kill "; c.calls != want {
		t.Errorf("the ladder did %q, want %q", c.calls, want)
	}
}

// A recorder is a client that records the calls to its methods.
type recorder struct {
	runner.Client
	calls string
}

func (r *recorder) Interrupt() { r.calls += "interrupt " }
func (r *recorder) Terminate() { r.calls += "terminate " }
func (r *recorder) Kill()      { r.calls += "kill " }

func TestStartFindsTheProgram(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	for file, mode := range map[string]os.FileMode{filepath.Join(dir, "tool"): 0o755, filepath.Join(dir, "data"): 0o644, filepath.Join(work, "local"): 0o755} {
		if err := os.WriteFile(file, []byte("#!/bin/sh\nexit 0\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		program string
		path    string
		want    error
	}{
		{"tool", "/no/such/folder:" + dir, nil},
		{"tool", "", exec.ErrNotFound},
		{"local", ".", exec.ErrNotFound}, // LookPath ignores relative folders in PATH
		{"./local", "", nil},
		{"data", dir, fs.ErrPermission},
		{dir, "", fs.ErrPermission},
		{"/no/such/program", "", fs.ErrNotExist},
	} {
		child, err := runner.Start(runner.Command{Args: []string{c.program}, Dir: work, Env: []string{"PATH=" + c.path}})
		if !errors.Is(err, c.want) {
			t.Errorf("Start(%q) with PATH %q: %v, want %v", c.program, c.path, err, c.want)
		}
		if err == nil {
			<-child.Exited()
			child.Finish(0)
		}
	}
}

// A process ID without the start time does not identify a process.
func TestProcessIsMoreThanItsNumber(t *testing.T) {
	self, err := runner.Identify(os.Getpid())
	if err != nil || !self.Alive() {
		t.Fatalf("Identify(self) = %v, %v, alive %v", self, err, self.Alive())
	}
	other := runner.Process{PID: self.PID, Start: self.Start - 1}
	if other.Alive() {
		t.Errorf("%v is alive, but %v has that number", other, self)
	}
	if _, ok := runner.Adopt(other, mark(t)); ok {
		t.Errorf("Adopt(%v) took %v for it", other, self)
	}
	if (runner.Process{}).Alive() || (runner.Process{PID: -1, Start: 1}).Alive() {
		t.Error("a process without a number is alive")
	}
	if _, err := runner.Identify(1 << 30); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Identify of a number that no process has: %v, want %v", err, fs.ErrNotExist)
	}
}

func TestAdopt(t *testing.T) {
	c, out := start(t, mark(t), "trap 'echo bye; exit' INT; echo ready; while :; do sleep 0.02; done")
	waitFor(t, out, "ready")
	a, ok := runner.Adopt(c.Process(), mark(t))
	if !ok {
		t.Fatal("a living client was not adopted")
	}
	a.Interrupt()
	<-a.Exited()
	waitFor(t, out, "bye")
	a.Finish(100 * time.Millisecond)
	c.Finish(100 * time.Millisecond)
	if _, ok := runner.Adopt(c.Process(), mark(t)); ok {
		t.Error("a dead client was adopted")
	}
}

func TestAdoptedIsKilled(t *testing.T) {
	c, out := start(t, mark(t), "trap '' INT TERM; sleep 600 & setsid sleep 601 & echo ready; while :; do sleep 0.02; done")
	waitFor(t, out, "ready")
	a, ok := runner.Adopt(c.Process(), mark(t))
	if !ok {
		t.Fatal("a living client was not adopted")
	}
	if e := a.Finish(100 * time.Millisecond); e.ExitCode != -1 {
		t.Errorf("Finish = %+v, want an unknown exit", e)
	}
	if left := runner.Leftovers(mark(t)); len(left) > 0 {
		t.Errorf("Finish left %v", left)
	}
	if e := c.Finish(0); e.Signal != "killed" {
		t.Errorf("the parent's Finish = %+v, want a killed child", e)
	}
}
