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
	Args []string // the program and its arguments; a program name without a slash is looked up in the PATH of Env
	Dir  string
	Env  []string // its MarkVar is the mark that Finish uses to find the processes that the client leaves behind
	// Stdout and Stderr are files to which the client writes directly. The caller closes
	// them after Start has returned.
	Stdout, Stderr *os.File
}

// A Child is a client that this process has started. It is the leader of a separate
// process group. Its methods are safe for concurrent use, except that Finish must be
// called exactly once.
type Child struct {
	cmd     *exec.Cmd
	process Process
	stdin   io.WriteCloser
	exited  chan struct{}
	search  *search
}

// Start starts a client. If it returns an error, no process is running. The error is
// [exec.ErrNotFound] or [fs.ErrNotExist] if the program does not exist, and
// [fs.ErrPermission] if the file cannot be executed.
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
		// The child gets its own process group, so that the whole group can be signaled
		// and a ^C in the daemon's terminal does not reach it.
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
	// The child keeps its process number until it is reaped, so stat cannot return
	// another process with the same number.
	own, err := stat(cmd.Process.Pid)
	child.process, child.search = Process{PID: cmd.Process.Pid, Start: own.start}, newSearch(markIn(c.Env), own)
	// This goroutine ends when the client ends. Finish kills the client and waits for the
	// goroutine.
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

// Stdin returns the client's standard input. Closing it signals the end of the input to
// the client. Finish closes it as well.
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

// Finish kills the remaining processes of the group, reaps the leader, and ends all other
// processes of the client's turns. Those are the processes that carry its mark, and those
// in sessions that such processes have started. grace is the time between SIGTERM and
// SIGKILL. A process without the mark in another session, for example after setsid env
// -i, keeps running; see [EndAdopted]. For a client without a mark, Finish ends only the
// group.
func (c *Child) Finish(grace time.Duration) Exit {
	select {
	case <-c.exited:
	default:
		c.search.look()
	}
	// The leader has not been reaped yet, so the group number still refers to this group.
	signalGroup(c.cmd.Process.Pid, syscall.SIGKILL)
	<-c.exited
	c.cmd.Wait() // the error only repeats the exit status, which ProcessState contains
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
	if pgid > 1 { // 0 would mean our own group, and 1 would mean all processes
		syscall.Kill(-pgid, sig) // an error means that the group is empty
	}
}
