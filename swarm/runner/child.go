package runner

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// A Command describes how to start a client.
type Command struct {
	Args []string // program and arguments; a program without a slash is looked for in the PATH of Env
	Dir  string
	Env  []string // its MarkVar is the mark by which Finish finds what the client leaves behind
	// Stdout and Stderr are files that the client writes itself. The caller closes them
	// after Start has returned.
	Stdout, Stderr *os.File
}

// A Child is a client that this process has started: the leader of a separate process
// group. Its methods may be called from several goroutines, except Finish, which must be
// called exactly once.
type Child struct {
	cmd     *exec.Cmd
	process Process
	stdin   io.WriteCloser
	exited  chan struct{}
	search  *search
}

// Start starts a client. An error means that no process runs. It is [exec.ErrNotFound] or
// [fs.ErrNotExist] when there is no such program, and [fs.ErrPermission] when the file
// cannot be run.
func Start(c Command) (*Child, error) {
	path, err := LookPath(c.Args[0], c.Dir, c.Env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path:   path,
		Args:   c.Args,
		Dir:    c.Dir,
		Env:    c.Env,
		Stdout: c.Stdout,
		Stderr: c.Stderr,
		// The child gets a separate group, so that the whole group can be signalled and a
		// ^C at the daemon's terminal does not reach it.
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	if err := cmd.Start(); err != nil {
		stdin.Close()
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	child := &Child{cmd: cmd, stdin: stdin, exited: make(chan struct{})}
	children.add(cmd.Process.Pid)
	// The child keeps its number until it is reaped, so stat cannot find another process
	// with that number.
	own, err := stat(cmd.Process.Pid)
	child.process, child.search = Process{PID: cmd.Process.Pid, Start: own.start}, newSearch(markIn(c.Env), own)
	// This goroutine ends when the client does; Finish kills the client and waits for it.
	go func() {
		awaitExit(cmd.Process.Pid)
		close(child.exited)
	}()
	if err != nil {
		child.Finish(0)
		return nil, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	return child, nil
}

// Process returns the client's process.
func (c *Child) Process() Process { return c.process }

// Stdin returns the client's standard input. Closing it tells the client that there is no
// more input; Finish closes it too.
func (c *Child) Stdin() io.WriteCloser { return c.stdin }

// Exited returns a channel that is closed when the client has ended. The client is not
// reaped before Finish, so its process number cannot be reused until then.
func (c *Child) Exited() <-chan struct{} { return c.exited }

// Interrupt sends SIGINT only to the leader.
func (c *Child) Interrupt() {
	c.search.look()
	c.cmd.Process.Signal(syscall.SIGINT)
}

// Terminate sends SIGTERM to the group.
func (c *Child) Terminate() {
	c.search.look()
	signalGroup(c.process.PID, syscall.SIGTERM)
}

// Kill sends SIGKILL to the group.
func (c *Child) Kill() {
	c.search.look()
	signalGroup(c.process.PID, syscall.SIGKILL)
}

// Finish kills the rest of the group, reaps the leader, and ends all other processes of
// the client's turns, with grace between SIGTERM and SIGKILL: those that carry its mark,
// and those in the sessions that such processes have begun. A process without the mark in
// another session, for example after setsid env -i, keeps running; see [EndAdopted]. For
// a client without a mark, Finish ends only the group.
func (c *Child) Finish(grace time.Duration) Exit {
	select {
	case <-c.exited:
	default:
		c.search.look()
	}
	// The leader is not reaped yet, so the group's number still names this group.
	signalGroup(c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.exited
	c.cmd.Wait() // its error is the exit status, which is in ProcessState
	children.remove(c.cmd.Process.Pid)
	reapGroup(c.cmd.Process.Pid)
	e := exitOf(c.cmd.ProcessState)
	e.Leftovers = c.search.end(grace)
	return e
}

func exitOf(s *os.ProcessState) Exit {
	if s == nil {
		return Exit{ExitCode: -1} // another goroutine has reaped it
	}
	if ws, ok := s.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return Exit{ExitCode: -1, Signal: ws.Signal().String()}
	}
	return Exit{ExitCode: s.ExitCode()}
}

func signalGroup(pgid int, sig syscall.Signal) {
	if pgid > 1 { // 0 would mean our own group, and 1 all processes
		syscall.Kill(-pgid, sig) // an error means that the group is empty
	}
}
