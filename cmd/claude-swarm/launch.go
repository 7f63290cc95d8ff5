package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/git"
)

// readyTimeout is how long start waits for a new daemon to become ready. Usually, this
// takes a few milliseconds, or up to two seconds if the daemon must recover long turns.
const readyTimeout = 30 * time.Second

// A readiness is the message that a new daemon sends to the waiting start verb.
type readiness struct {
	PID     int      `json:"pid"`
	Grown   []string `json:"grown,omitempty"` // as in [swarm.Changes]
	Problem string   `json:"problem,omitempty"`
	Next    string   `json:"next,omitempty"`
	Code    int      `json:"code,omitempty"`
}

// startDaemon starts the daemon in a separate session, so that it outlives the terminal. It
// waits until the daemon reports either that it is ready or why it could not start.
func startDaemon(c *cli.Context, p *project, names []string) error {
	if err := refuseTracked(c, p); err != nil {
		return err
	}
	if err := checkOutside(p.file); err != nil {
		return badConfig(err)
	}
	if err := p.home.Make(); err != nil {
		return err
	}
	b, err := spawn(c.Context, p, without(c), names)
	if err != nil {
		return err
	}
	if b.Problem != "" {
		return &hintError{err: errors.New(b.Problem), hint: b.Next, code: b.Code}
	}
	fmt.Fprintf(c.App.Writer, "ready, pid %d, agents %s\n", b.PID, strings.Join(p.file.Names(), " "))
	printGrown(c.App.Writer, b.Grown)
	warnMissing(c.App.ErrWriter, p.file, names)
	writeNewer(c.App.ErrWriter, p.file, nil)
	warnUnread(c.App.ErrWriter, p.file, names)
	warnUnsorted(c.App.ErrWriter, p)
	return nil
}

// refuseTracked returns an error if git tracks the daemon's files, because the next
// commit would then contain the secrets of all agents. If git refuses this user the repository,
// it prints a warning: no agent can commit there, either.
func refuseTracked(c *cli.Context, p *project) error {
	files, err := git.Tracked(c.Context, os.Environ(), p.home.Dir())
	if owner, ok := errors.AsType[*git.OwnerError](err); ok {
		if !p.file.Audit.Git { // the daemon itself reports the same as an error of the audit
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %v\n  try: %s\n", owner, owner.Next())
		}
		return nil
	}
	if err != nil || len(files) == 0 {
		return err
	}
	where := "git"
	if here, err := os.Getwd(); err != nil || here != p.dir {
		where += " -C " + shellWord(p.dir)
	}
	return fail(exitFailed, fmt.Sprintf("%s rm -r --cached %s, then %s commit", where, discovery.HomeName, where),
		"git tracks %s, which contains what must never be committed: %s", discovery.HomeName, strings.Join(files[:min(len(files), 3)], ", "))
}

func spawn(ctx context.Context, p *project, flags, names []string) (readiness, error) {
	self, err := ownProgram()
	if err != nil {
		return readiness{}, err
	}
	// All output of the daemon, including a panic, is written to its log.
	out, err := os.OpenFile(p.home.DaemonLog(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return readiness{}, err
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return readiness{}, err
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: self, Args: daemonArgs(p, 3, flags, names), Dir: p.file.Dir, Env: withoutMarks(os.Environ()),
		Stdout: out, Stderr: out, ExtraFiles: []*os.File{w},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = errors.Join(cmd.Start(), w.Close())
	if err != nil {
		return readiness{}, fmt.Errorf("start the daemon: %w", err)
	}
	pid := cmd.Process.Pid
	if err := cmd.Process.Release(); err != nil {
		return readiness{}, err
	}
	if err := r.SetReadDeadline(time.Now().Add(readyTimeout)); err != nil {
		return readiness{}, err
	}
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	var b readiness
	switch err := json.NewDecoder(r).Decode(&b); {
	case err == nil:
		return b, nil
	case ctx.Err() != nil:
		return b, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return b, fail(exitTimeout, "claude-swarm status", "the daemon (pid %d) is not ready after %v", pid, readyTimeout)
	case errors.Is(err, io.EOF):
		return b, fail(exitFailed, "tail "+p.home.DaemonLog(), "the daemon ended before it was ready")
	default:
		return b, fmt.Errorf("wait for the daemon: %w", err)
	}
}

func daemonArgs(p *project, fd int, flags, names []string) []string {
	args := []string{"claude-swarm", "--config", p.file.Path, "start", "--foreground"}
	if fd != 0 {
		args = append(args, fmt.Sprintf("--ready-fd=%d", fd))
	}
	return slices.Concat(args, flags, names)
}

// Flags of start that are passed to the daemon.
const (
	noMCP    = "no-mcp"
	noBridge = "no-irc"
)

func noIRCFlag() cli.Flag {
	return &cli.BoolFlag{Name: noBridge, Usage: "do not use IRC, regardless of the configuration: no bridge, and nothing is shown there"}
}

// without returns the flags noMCP and noBridge if they are set.
func without(c *cli.Context) (flags []string) {
	for _, name := range []string{noMCP, noBridge} {
		if c.Bool(name) {
			flags = append(flags, "--"+name)
		}
	}
	return flags
}

// withoutMarks returns the environment without the variables that mark a process as part of
// a turn.
func withoutMarks(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, "CLAUDE_SWARM_")
	})
}
