package runner_test

import (
	"os"
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

// A scene is a folder in which each process of a shell script writes its process ID to a
// separate file.
type scene struct {
	t   *testing.T
	dir string
}

func newScene(t *testing.T) scene { return scene{t, t.TempDir()} }

// sleeper returns a shell command that writes its process ID to the file with the given
// name and then sleeps. how is the beginning of the command, such as setsid.
func (s scene) sleeper(how, name string) string {
	return how + ` /bin/sh -c 'echo $$ >` + filepath.Join(s.dir, name) + `; exec sleep 600'`
}

// tool writes the script of a client's shell tool, and returns the command that runs it
// in another session. The script's children detach from their parent, leave its session
// or drop its mark.
func (s scene) tool() string {
	s.t.Helper()
	path := filepath.Join(s.dir, "tool.sh")
	script := "echo $$ >" + filepath.Join(s.dir, "shell") + "\n" +
		"(" + s.sleeper("setsid", "session") + " &)\n" +
		"(" + s.sleeper("", "orphan") + " &)\n" +
		s.sleeper("env -i", "clean") + " &\n" +
		s.sleeper("", "last") + "\n:\n"
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return "setsid /bin/sh " + path
}

// process waits until a process has written its ID, and returns that process.
func (s scene) process(name string) runner.Process {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	waitFor(s.t, path, "\n")
	data, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		s.t.Fatal(err)
	}
	p, err := runner.Identify(pid)
	if err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
	s.t.Cleanup(func() {
		if p.Alive() {
			syscall.Kill(p.PID, syscall.SIGKILL)
		}
	})
	return p
}

func (s scene) processes(names ...string) map[string]runner.Process {
	s.t.Helper()
	all := make(map[string]runner.Process)
	for _, name := range names {
		all[name] = s.process(name)
	}
	return all
}

// gone checks that none of the processes is running.
func (s scene) gone(all map[string]runner.Process) {
	s.t.Helper()
	for name, p := range all {
		if p.Alive() {
			s.t.Errorf("%s still runs", name)
		}
	}
}

// ofTool contains the names of a tool's processes.
var ofTool = []string{"shell", "session", "orphan", "clean", "last"}

// A client's tool runs in another session, and some of its children drop the mark. All
// these processes are terminated with the client, regardless of how the client ends.
func TestTheSessionOfAToolEndsWithItsClient(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, c *runner.Child) runner.Exit{
		"finish": func(_ *testing.T, c *runner.Child) runner.Exit { return c.Finish(100 * time.Millisecond) },
		"the client ends first": func(_ *testing.T, c *runner.Child) runner.Exit {
			syscall.Kill(c.Process().PID, syscall.SIGKILL)
			<-c.Exited()
			return c.Finish(100 * time.Millisecond)
		},
		"adopted": func(t *testing.T, c *runner.Child) runner.Exit {
			a, ok := runner.Adopt(c.Process(), mark(t))
			if !ok {
				t.Fatal("a living client was not adopted")
			}
			e := a.Finish(100 * time.Millisecond)
			c.Finish(0)
			return e
		},
		"without a client": func(t *testing.T, c *runner.Child) runner.Exit {
			syscall.Kill(-c.Process().PID, syscall.SIGKILL)
			<-c.Exited()
			e := runner.Exit{Leftovers: runner.EndLeftovers(mark(t), 100*time.Millisecond)}
			c.Finish(0)
			return e
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			c, _ := start(t, mark(t), s.tool()+" & wait")
			all := s.processes(ofTool...)
			if found := len(runner.Leftovers(mark(t))); found < len(all)+1 {
				t.Errorf("%d processes of the turn, want the client and %d more", found, len(all))
			}
			if e := end(t, c); e.Leftovers < len(all) {
				t.Errorf("%d leftovers were ended, want %d", e.Leftovers, len(all))
			}
			s.gone(all)
		})
	}
}

// An interrupted client may terminate its tool's shell. Even if that shell was the last
// process with the mark in its session, the session belongs to the turn.
func TestASessionWithoutTheMarkAtTheEnd(t *testing.T) {
	for name, adopted := range map[string]bool{"child": false, "adopted": true} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			path := filepath.Join(s.dir, "tool.sh")
			if err := os.WriteFile(path, []byte(s.sleeper("env -i", "clean")+" &\n"+s.sleeper("exec", "shell")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			c, _ := start(t, mark(t), "setsid /bin/sh "+path+" & tool=$!; trap 'kill -9 $tool; exit 7' INT; while :; do sleep 0.02; done")
			all := s.processes("clean", "shell")
			var client runner.Client = c
			if adopted {
				a, ok := runner.Adopt(c.Process(), mark(t))
				if !ok {
					t.Fatal("a living client was not adopted")
				}
				client = a
				defer c.Finish(0)
			}
			client.Interrupt()
			<-client.Exited()
			for deadline := time.Now().Add(patience); all["shell"].Alive(); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the client did not end the shell")
				}
			}
			if !all["clean"].Alive() {
				t.Fatal("the client ended more than the shell")
			}
			client.Finish(100 * time.Millisecond)
			s.gone(all)
		})
	}
}

// A tool's shell may have exited before its client and left children in the background.
func TestASessionWhoseShellHasEnded(t *testing.T) {
	s := newScene(t)
	path := filepath.Join(s.dir, "tool.sh")
	if err := os.WriteFile(path, []byte(s.sleeper("", "background")+" &\n"+s.sleeper("env -i", "clean")+" &\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, out := start(t, mark(t), "setsid /bin/sh "+path+"; echo ready; read -r line")
	waitFor(t, out, "ready")
	all := s.processes("background", "clean")
	if e := c.Finish(100 * time.Millisecond); e.Leftovers != len(all) {
		t.Errorf("%d leftovers, want %d", e.Leftovers, len(all))
	}
	s.gone(all)
}

// The session that a client shares with its daemon or with a person's terminal does not
// belong to the turn. Other processes in it keep running.
func TestTheSessionOfTheClientIsSpared(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, end := range map[string]func(t *testing.T, client runner.Process){
		"adopted": func(t *testing.T, client runner.Process) {
			a, ok := runner.Adopt(client, mark(t))
			if !ok {
				t.Fatal("a living client was not adopted")
			}
			a.Finish(100 * time.Millisecond)
		},
		"without a client": func(t *testing.T, _ runner.Process) {
			runner.EndLeftovers(mark(t), 100*time.Millisecond)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			for _, leader := range []string{"wait", "exit"} { // a person could close the terminal
				t.Run(leader, func(t *testing.T) {
					terminal := exec.Command(need.Program(t, "setsid"), "sh", "-c", s.sleeper("env "+runner.MarkVar+"="+mark(t), "client"+leader)+" & "+
						s.sleeper("", "person"+leader)+" & "+s.sleeper("env -i", "plain"+leader)+" & "+leader)
					terminal.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
					if err := terminal.Start(); err != nil {
						t.Fatal(err)
					}
					client, person, plain := s.process("client"+leader), s.process("person"+leader), s.process("plain"+leader)
					end(t, client)
					if client.Alive() || !person.Alive() || !plain.Alive() {
						t.Errorf("client alive: %v; the others: %v, %v", client.Alive(), person.Alive(), plain.Alive())
					}
					for _, p := range []runner.Process{person, plain} {
						syscall.Kill(p.PID, syscall.SIGKILL)
					}
					terminal.Wait()
				})
			}
		})
	}
}

// A process with the mark may be in a session that has nothing to do with the turn, for
// example when a person tries a command with the environment of a turn.
func TestASessionThatIsOlderThanTheClient(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := newScene(t)
	begin := filepath.Join(s.dir, "begin")
	terminal := exec.Command("sh", "-c", "echo $$ >"+filepath.Join(s.dir, "terminal")+"; while ! test -e "+begin+"; do sleep 0.01; done; "+
		s.sleeper("env "+runner.MarkVar+"="+mark(t), "tried")+" & "+s.sleeper("", "other")+" & wait")
	terminal.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := terminal.Start(); err != nil {
		t.Fatal(err)
	}
	defer terminal.Wait()
	defer terminal.Process.Kill()
	shell := s.process("terminal")
	time.Sleep(20 * time.Millisecond) // start times have a resolution of 10 ms
	c, _ := start(t, mark(t), "read -r line")
	if err := os.WriteFile(begin, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tried, other := s.process("tried"), s.process("other")
	c.Finish(100 * time.Millisecond)
	if tried.Alive() || !other.Alive() || !shell.Alive() {
		t.Errorf("the process with the mark alive: %v; the others: %v, %v", tried.Alive(), other.Alive(), shell.Alive())
	}
}

// A process keeps running only if it has both dropped the mark and left the session.
func TestWhatNoSignTells(t *testing.T) {
	s := newScene(t)
	c, _ := start(t, mark(t), s.sleeper("setsid env -i", "stranger")+" & wait")
	stranger := s.process("stranger")
	c.Finish(100 * time.Millisecond)
	if !stranger.Alive() {
		t.Error("it has ended: then the doc comments of search and Finish are wrong")
	}
}

// A client may leave behind a daemon that also serves later clients. The daemon has the
// mark of the first client.
func TestADaemonOfTheClientEnds(t *testing.T) {
	s := newScene(t)
	c, _ := start(t, mark(t), "("+s.sleeper("setsid", "hub")+" </dev/null >/dev/null 2>&1 &); read -r line; exit 0")
	hub := s.process("hub")
	c.Stdin().Close()
	<-c.Exited()
	if !hub.Alive() {
		t.Fatal("the daemon has ended with its client")
	}
	if e := c.Finish(time.Second); e.ExitCode != 0 || e.Leftovers != 1 {
		t.Errorf("%+v, want one leftover", e)
	}
	if hub.Alive() {
		t.Error("the daemon still runs")
	}
}

// A process without the mark is counted while the shell that started it waits for it.
func TestUsageOfASession(t *testing.T) {
	s := newScene(t)
	path := filepath.Join(s.dir, "tool.sh")
	if err := os.WriteFile(path, []byte("env -i /bin/sh -c 'while :; do :; done' & echo ready; wait\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, out := start(t, mark(t), "setsid /bin/sh "+path+" & wait")
	defer c.Finish(100 * time.Millisecond)
	waitFor(t, out, "ready")
	for deadline := time.Now().Add(patience); runner.CPUTime(mark(t)) < 50*time.Millisecond || !runner.Runnable(mark(t)); {
		if time.Now().After(deadline) {
			t.Fatal("a process that spins without the mark uses no processor time")
		}
		time.Sleep(5 * time.Millisecond) // the interval between checks; the deadline limits their number
	}
}

// If a client in our own session ends, this process and its other children keep running.
func TestOurSessionIsSpared(t *testing.T) {
	c, out := start(t, mark(t), "sleep 601 & echo ready; wait")
	waitFor(t, out, "ready")
	bystander := exec.Command("sleep", "600")
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer bystander.Wait()
	defer bystander.Process.Kill()
	p, err := runner.Identify(bystander.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	c.Finish(100 * time.Millisecond)
	if !p.Alive() {
		t.Error("a process of our session was ended with a turn")
	}
}
