package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The test binary also serves as the program and as the stand-ins for the agents' clients.
// Therefore, the scripts run real daemons with real child processes, but no model.
func TestMain(m *testing.M) {
	// Scripts spend most of their time waiting for daemons and clients, so more of them run
	// at the same time than there are processors. The flag -parallel overrides this value.
	if err := flag.Set("test.parallel", strconv.Itoa(4*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){
		"claude-swarm": main,
		"claude": func() {
			os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
		},
		"receiver": receiver,
		"soon":     soon,
		"acp-standin": func() {
			os.Exit(acpstandin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
		},
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, scripts("testdata/script"))
}

func TestTmuxScripts(t *testing.T) { scriptsWith(t, "tmux") }
func TestZshScripts(t *testing.T)  { scriptsWith(t, "zsh") }
func TestFishScripts(t *testing.T) { scriptsWith(t, "fish") }

// TestDiskScripts runs the scripts that mount a separate disk.
func TestDiskScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").Run(); err != nil {
		t.Log(err)
		need.Missing(t, "unshare with a user namespace")
	}
	t.Parallel()
	testscript.Run(t, scripts("testdata/disk"))
}

// TestNamespaceScripts runs the scripts in which a turn starts processes in a PID namespace
// of their own, as a sandbox does.
func TestNamespaceScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if err := exec.Command("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true").Run(); err != nil {
		t.Log(err)
		need.Missing(t, "unshare with a user namespace")
	}
	t.Parallel()
	testscript.Run(t, scripts("testdata/namespace"))
}

// scriptsWith runs the scripts that require the given program. They are in the folder
// named after the program.
func scriptsWith(t *testing.T, program string) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	need.Program(t, program)
	t.Parallel()
	testscript.Run(t, scripts("testdata/"+program))
}

// scripts returns the parameters for running the scripts in a folder. Each script has its
// own home folder and its own folder for sockets. No daemon is left running after a
// script.
//
// The command soon repeats a command until it succeeds; a script uses it inside `sh -c`. In
// addition to testscript's commands, the scripts can use:
//
//	until [!] PATTERN COMMAND…   run a command again until its stdout matches
//	gone FILE                    wait until the process whose pid is in FILE has ended
//	signal NAME FILE             send HUP, INT, TERM or KILL to that process
//	mail MAILBOX FOLDER N        wait until new, cur, done or dead contains N messages
//	code N COMMAND…              run a command and check its exit status
//	keep NAME                    put the first word of stdout into a variable
//	post FILE MAILBOX            deliver a message file with the proof of its sender
//	keys FILE FILE…              check for all documented fields, the same in each file
//	times                        check the times in the JSON that was printed last
//	denied FILE                  write the command lines that no turn may use, a line each
func scripts(dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE") != "",
		Setup:               func(env *testscript.Env) error { return setup(env, dir) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until":  until,
			"gone":   gone,
			"signal": sendSignal,
			"mail":   countMail,
			"code":   exitsWith,
			"keep":   keep,
			"post":   postProven,
			"keys":   demandKeys,
			"times":  checkTimes,
			"denied": listDenied,
		},
	}
}

// ownGrep matches the lines that begin with testscript's command grep, which is not the
// program.
var ownGrep = regexp.MustCompile(`(?m)^(?:! )?grep .*`)

// needPrograms leaves a script out if a program that it calls is missing.
func needPrograms(env *testscript.Env, dir string) error {
	name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
	text, err := os.ReadFile(filepath.Join(dir, name+".txtar"))
	if err != nil {
		return err
	}
	absent := need.Absent(ownGrep.ReplaceAllString(string(text), ""))
	switch {
	case len(absent) == 0:
		return nil
	case need.Strict():
		return fmt.Errorf("%s is missing", absent[0])
	}
	env.T().Skip("not run: " + absent[0] + " is missing")
	return nil
}

func setup(env *testscript.Env, dir string) error {
	if err := needPrograms(env, dir); err != nil {
		return err
	}
	// The path of a socket is limited to about 100 bytes.
	runtime, err := os.MkdirTemp("", "cs")
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("XDG_RUNTIME_DIR", runtime)
	env.Setenv("TMUX_TMPDIR", runtime)
	env.Setenv("TZ", "UTC")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise, each program waits for a second before it exits
	env.Setenv("SHELL", "/bin/sh")
	env.Setenv("LANG", "C.UTF-8")
	env.Setenv("TERM", "screen")
	env.Defer(func() {
		endTmux(runtime)
		endDaemons(env)
		os.RemoveAll(runtime)
	})
	return nil
}

// endDaemons stops every daemon that is still running after a script, whether or not the
// script passed.
func endDaemons(env *testscript.Env) {
	_ = filepath.WalkDir(env.WorkDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "daemon.lock" {
			return nil // an unreadable folder does not belong to a daemon that the script started
		}
		return endDaemon(journal.HomeOf(filepath.Dir(filepath.Dir(path))))
	})
}

// endDaemon stops the daemon of a project. The first SIGTERM asks it to stop, and the next
// ones end its running turns. A daemon that keeps running in spite of this is killed.
func endDaemon(home journal.Home) error {
	ended := func(sig syscall.Signal) func() bool {
		return func() bool {
			note, held := discovery.Holder(home.LockFile())
			if !held || note.PID == 0 {
				return true // there is no daemon, or something else holds the lock
			}
			_ = syscall.Kill(note.PID, sig) // the process may have exited in the meantime
			return false
		}
	}
	if poll(ended(syscall.SIGTERM)) || poll(ended(syscall.SIGKILL)) {
		return nil
	}
	return fmt.Errorf("the daemon of %s does not end", home.Dir())
}

// endTmux ends the tmux server whose socket is in a subfolder of dir, if there is one.
func endTmux(dir string) {
	if sockets, err := filepath.Glob(filepath.Join(dir, "tmux-*")); err == nil && len(sockets) > 0 {
		cmd := exec.Command("tmux", "kill-server") // this fails if the script itself has ended the server
		cmd.Env = append(os.Environ(), "TMUX_TMPDIR="+dir)
		_ = cmd.Run()
	}
}

// scriptPatience is how long a script waits for an expected event before it fails. On a
// busy machine, an event can take many times longer than usual.
const scriptPatience = 3 * time.Minute

// poll calls f repeatedly and reports whether it returned true within scriptPatience. The
// pauses grow with the time waited so far, because f may start a process, and many scripts
// wait at the same time.
func poll(f func() bool) bool {
	for began := time.Now(); !f(); {
		waited := time.Since(began)
		if waited > scriptPatience {
			return false
		}
		time.Sleep(min(max(waited/5, 10*time.Millisecond), 250*time.Millisecond))
	}
	return true
}

// soon is a program for test scripts: it repeats a command until the command succeeds.
func soon() {
	if !poll(func() bool { return exec.Command(os.Args[1], os.Args[2:]...).Run() == nil }) {
		fmt.Fprintf(os.Stderr, "%q does not succeed in %v\n", os.Args[1:], scriptPatience)
		os.Exit(1)
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	want := !neg
	if len(args) > 0 && args[0] == "!" {
		want, args = false, args[1:]
	}
	if len(args) < 2 {
		ts.Fatalf("usage: until [!] PATTERN COMMAND…")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	var out string
	if !poll(func() bool {
		_ = ts.Exec(args[1], args[2:]...) // the exit status does not matter, only the output
		out = ts.ReadFile("stdout")
		return re.MatchString(out) == want
	}) {
		ts.Fatalf("%q does not match %q (want %v) after %v:\n%s%s", args[1:], args[0], want, scriptPatience, out, ts.ReadFile("stderr"))
	}
}

// pidIn reads a process id from a file. The file begins with "pid N", as in daemon.lock,
// or with the number alone.
func pidIn(ts *testscript.TestScript, file string) int {
	data := strings.TrimPrefix(ts.ReadFile(file), "pid ")
	pid, err := strconv.Atoi(strings.Fields(data)[0])
	ts.Check(err)
	return pid
}

func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone FILE")
	}
	pid := pidIn(ts, args[0])
	if !poll(func() bool { return syscall.Kill(pid, 0) != nil || zombie(pid) }) {
		ts.Fatalf("process %d lives after %v", pid, scriptPatience)
	}
}

// zombie reports whether a process has exited but its parent has not yet collected its
// exit status. For a daemon, the parent is the container's init process. A process with
// several threads is not considered a zombie, because other threads can still have
// files open when the first thread is a zombie.
func zombie(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	_, after, _ := strings.Cut(string(data), ") ")
	return err == nil && len(threads) <= 1 && strings.HasPrefix(after, "Z")
}

func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	if neg || len(args) != 2 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal HUP|INT|TERM|KILL FILE")
	}
	ts.Check(syscall.Kill(pidIn(ts, args[1]), signals[args[0]]))
}

func countMail(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || !slices.Contains([]string{"new", "cur", "done", "dead"}, args[1]) {
		ts.Fatalf("usage: mail MAILBOX new|cur|done|dead N")
	}
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	box := ts.MkAbs(filepath.Join(".dead-drop", args[0]))
	n := 0
	if !poll(func() bool {
		n = 0
		_ = filepath.WalkDir(filepath.Join(box, args[1]), func(path string, d fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".md") {
				n++
			}
			return nil
		})
		// A message moves to done/ before its receipt does, and is filed with both.
		unfiled, err := filepath.Glob(filepath.Join(box, "cur", "*.receipt.yaml"))
		return n == want && err == nil && (args[1] != "done" || len(unfiled) == 0)
	}) {
		ts.Fatalf("%d messages in %s/%s after %v, want %d", n, args[0], args[1], scriptPatience, want)
	}
}

// postProven delivers a message with its sender's proof. Such a proof is needed, for
// example, for the answers from a bridge.
func postProven(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: post FILE MAILBOX")
	}
	m, err := dropbox.Parse([]byte(ts.ReadFile(args[0])))
	ts.Check(err)
	store, err := dropbox.Open(ts.MkAbs(".dead-drop"), dropbox.Options{})
	ts.Check(err)
	tokens, err := journal.HomeOf(ts.MkAbs(".")).Tokens(m.From)
	ts.Check(err)
	_, err = store.DeliverSigned(args[1], m, func(m *dropbox.Message) string { return dropbox.Proof(tokens[m.From], m, args[1]) })
	ts.Check(errors.Join(err, store.Close()))
}
