package acpstandin

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// These are the environment variables that the stand-in reads.
const (
	Var             = "ACPSTANDIN"
	QuirksVar       = "ACPSTANDIN_QUIRKS"
	NoFirstEventVar = "ACPSTANDIN_NO_FIRST_EVENT"
	BadVar          = "ACPSTANDIN_BAD"
	PlayVar         = "ACPSTANDIN_PLAY"

	partVar = "ACPSTANDIN_PART" // role of a process that another stand-in started: agent or daemon
)

// Main runs the stand-in. Its caller must pass the result to os.Exit. args are the
// arguments without the program's name; environ has the form of [os.Environ]. A turn's
// goroutine may still be running when Main returns.
func Main(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := environment(environ)
	if env[partVar] == "daemon" {
		return daemon()
	}
	is, err := personality(env[Var], env[QuirksVar])
	if err != nil {
		fmt.Fprintln(stderr, "acpstandin:", err)
		return 2
	}
	if slices.Contains(args, "--version") {
		fmt.Fprintln(stdout, is.Version)
		return 0
	}
	if env[NoFirstEventVar] != "" {
		fmt.Fprintln(stderr, "acpstandin: no first event, as "+NoFirstEventVar+" says")
		return 1
	}
	if is.Launcher != "" && env[partVar] == "" {
		return launch(is.Launcher, args, environ, stdin, stdout, stderr)
	}
	a := &agent{is: is, args: args, environ: environ, env: env, stderr: stderr, conn: newConn(stdin, stdout), sessions: map[string]*session{}}
	if env[PlayVar] != "" {
		return a.playRecord(env[PlayVar])
	}
	if env[BadVar] != "" {
		if code, all := a.misbehave(env[BadVar], stdin, stdout); all {
			return code
		}
	}
	go a.heed()
	return a.serve()
}

// environment converts the result of [os.Environ] to a map; if a variable occurs twice,
// the last value is used.
func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, kv := range environ {
		if key, value, ok := strings.Cut(kv, "="); ok {
			env[key] = value
		}
	}
	return env
}

// reexec prepares a command that runs this program in another process.
func reexec(part string, args, environ []string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(slices.Clone(environ), partVar+"="+part)
	return cmd, nil
}

// launch runs the agent in a second process of the same process group.
func launch(how string, args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd, err := reexec("agent", args, environ)
	if err != nil {
		fmt.Fprintln(stderr, "acpstandin:", err)
		return 2
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	signals := make(chan os.Signal, 4)
	if how != "dies" {
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM) // signals are held until the agent has started
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(stderr, "acpstandin:", err)
		return 2
	}
	go func() { // runs until this process exits
		for s := range signals {
			if how == "forwards" {
				cmd.Process.Signal(s)
			}
		}
	}()
	cmd.Wait() // the exit status is read below
	return max(cmd.ProcessState.ExitCode(), 0)
}

// daemonLife is the lifetime of a daemon that no test kills.
const daemonLife = 5 * time.Minute

func daemon() int {
	time.Sleep(daemonLife)
	return 0
}

// leaveDaemon starts a daemon process outside our process group.
func (a *agent) leaveDaemon() {
	if !a.is.Daemon || a.getenv("CLINE_SESSION_BACKEND_MODE") == "local" || a.hasDaemon {
		return
	}
	a.hasDaemon = true
	cmd, err := reexec("daemon", []string{"--cline-hub-daemon"}, a.environ)
	if err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		err = cmd.Start()
	}
	a.complain(err)
}

// heed ends the process on a signal, unless a turn ignores signals.
func (a *agent) heed() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	for s := range signals {
		switch {
		case a.deaf.Load():
		case a.is.Signals:
			os.Exit(0)
		default:
			signal.Reset(s)
			syscall.Kill(os.Getpid(), s.(syscall.Signal))
		}
	}
}

// An agent is one process.
type agent struct {
	is      Personality
	args    []string
	environ []string
	env     map[string]string
	stderr  io.Writer
	conn    *conn
	deaf    atomic.Bool // @hang

	// The goroutine that reads the input owns these fields; a running turn owns its
	// session.
	sessions  map[string]*session
	hasDaemon bool
	turn      atomic.Pointer[turn] // nil between turns
	late      sync.WaitGroup       // updates that follow the end of their turn
}

func (a *agent) getenv(name string) string { return a.env[name] }

func (a *agent) complain(err error) {
	if err != nil {
		fmt.Fprintln(a.stderr, "acpstandin:", err)
	}
}

// flags returns the values of a flag, which can be written as --flag=value or as two
// arguments.
func (a *agent) flags(name string) []string {
	var values []string
	for i, arg := range a.args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			values = append(values, value)
		} else if arg == name && i+1 < len(a.args) {
			values = append(values, a.args[i+1])
		}
	}
	return values
}

func (a *agent) flag(name string) string {
	if values := a.flags(name); len(values) > 0 {
		return values[0]
	}
	return ""
}
