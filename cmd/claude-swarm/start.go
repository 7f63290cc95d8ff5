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

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// birthTimeout is how long start waits for a new daemon. It is ready in some
// milliseconds, or after two seconds where it takes up long turns.
const birthTimeout = 30 * time.Second

func startCommand() *cli.Command {
	return &cli.Command{
		Name: "start", Category: groupDaemon, ArgsUsage: "[AGENT…]",
		Usage: "start the daemon, or agents of a running one",
		Description: `Starts the daemon of this project and returns when it is ready, or says why it
is not. With names only these agents work; the others are stopped until they are
started by name. When the daemon runs already, names start agents that were
stopped, by hand or after failures.

The daemon goes on when the terminal is closed. Its log is
.claude-swarm/daemon.log.` +
			examples("claude-swarm start", "claude-swarm start coder", "claude-swarm start --foreground"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "foreground", Usage: "stay in this terminal; for systemd and the like"},
			&cli.BoolFlag{Name: "tmux", Usage: "show each agent in a pane of tmux; closing it stops nothing"},
			&cli.BoolFlag{Name: noMCP, Usage: "give no agent the tools of claude-swarm's own MCP server"},
			noIRCFlag(),
			&cli.IntFlag{Name: "ready-fd", Hidden: true},
		},
		Action: start,
	}
}

func start(c *cli.Context) error {
	p, err := loadProject(c)
	if err != nil {
		return err
	}
	names := namesIn(c)
	if _, err := p.agents(names, "claude-swarm start %s"); err != nil {
		return err
	}
	if c.Bool("foreground") {
		if c.Bool("tmux") {
			return usagef("claude-swarm start --tmux", "--foreground and --tmux exclude each other")
		}
		return foreground(c, p, names)
	}
	client, err := dialSettled(c, p)
	switch {
	case err == nil:
		err = errors.Join(startAgents(c, p, client, names), client.Close())
	case errors.Is(err, control.ErrNoDaemon) && !lockHeld(p.home):
		err = startDaemon(c, p, names)
	}
	if err != nil || !c.Bool("tmux") {
		return err
	}
	return showInTmux(c, p)
}

// settlePatience is how long start waits while something holds the project and
// does not answer: a daemon that was killed just now, or that begins to listen.
const settlePatience = 2 * time.Second

// dialSettled dials the daemon, and where one comes or goes just now, waits
// until it is there or gone.
func dialSettled(c *cli.Context, p *project) (*control.Client, error) {
	deadline := time.Now().Add(settlePatience)
	for {
		client, err := dial(c, p)
		if !errors.Is(err, control.ErrNoDaemon) || !lockHeld(p.home) || time.Now().After(deadline) {
			return client, err
		}
		select {
		case <-c.Context.Done():
			return nil, c.Context.Err()
		case <-time.After(30 * time.Millisecond):
		}
	}
}

// startAgents starts agents of a running daemon. Without names there is nothing
// to start but a second daemon, which is refused; or the panes, which are not.
func startAgents(c *cli.Context, p *project, client *control.Client, names []string) error {
	if len(names) == 0 && !c.Bool("tmux") {
		if st, err := client.Status(c.Context); err != nil {
			return err
		} else if st.Daemon != nil && st.Daemon.Stopping {
			return fail(exitFailed, "claude-swarm stop --now, then claude-swarm start", "%w: it ends when the running turns have", swarm.ErrStopping)
		}
		return alreadyRuns(&runningError{rendezvous.ReadNote(p.home.LockFile())})
	}
	me, err := p.whoAmI()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := client.Start(c.Context, name, me.Name); err != nil {
			return err
		}
		fmt.Fprintf(c.App.Writer, "%s started\n", name)
	}
	if len(names) > 0 {
		warnMissing(c.App.ErrWriter, p.file, names)
		warnUnread(c.App.ErrWriter, p.file, names)
	}
	return nil
}

// A birth is what a new daemon tells the start that waits for it.
type birth struct {
	PID     int    `json:"pid"`
	Problem string `json:"problem,omitempty"`
	Next    string `json:"next,omitempty"`
	Code    int    `json:"code,omitempty"`
}

// foreground is the daemon itself.
func foreground(c *cli.Context, p *project, names []string) error {
	if err := leaveTurn(p, c, names); err != nil {
		return err
	}
	order := daemonOrder{project: p, agents: names, by: "start", noTools: c.Bool(noMCP), noIRC: c.Bool(noBridge)}
	fd := c.Int("ready-fd")
	if fd == 0 {
		if err := refuseTracked(c.Context, p); err != nil {
			return err
		}
		order.stderr = c.App.ErrWriter
		order.ready = func() {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: ready, pid %d, agents %s\n", os.Getpid(), strings.Join(p.file.Names(), " "))
			warnMissing(c.App.ErrWriter, p.file, names)
			warnUnread(c.App.ErrWriter, p.file, names)
		}
		return runDaemon(c.Context, order)
	}
	syscall.CloseOnExec(fd) // no agent may hold it
	parent := os.NewFile(uintptr(fd), "ready")
	// The one who waits may be gone, which harms nobody.
	tell := func(b birth) { _ = errors.Join(json.NewEncoder(parent).Encode(b), parent.Close()) }
	order.ready = func() { tell(birth{PID: os.Getpid()}) }
	err := runDaemon(c.Context, order)
	if err != nil {
		tell(birth{Problem: err.Error(), Next: nextStep(err), Code: exitCode(err)})
	}
	return err
}

// leaveTurn begins the program again without our variables where it was started
// inside a turn: what carries the mark of a turn is ended with it.
func leaveTurn(p *project, c *cli.Context, names []string) error {
	env := withoutMarks(os.Environ())
	if len(env) == len(os.Environ()) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, daemonArgs(p, c.Int("ready-fd"), without(c), names), env)
}

// withoutMarks is the environment less what makes us part of a turn.
func withoutMarks(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(entry string) bool {
		return strings.HasPrefix(entry, "CLAUDE_SWARM_")
	})
}

// Flags of start that a daemon is begun with.
const (
	noMCP    = "no-mcp"
	noBridge = "no-irc"
)

func noIRCFlag() cli.Flag {
	return &cli.BoolFlag{Name: noBridge, Usage: "leave IRC alone, whatever the configuration says: no bridge, and nothing is shown there"}
}

// without are those of the flags that are set.
func without(c *cli.Context) (flags []string) {
	for _, name := range []string{noMCP, noBridge} {
		if c.Bool(name) {
			flags = append(flags, "--"+name)
		}
	}
	return flags
}

func daemonArgs(p *project, fd int, flags, names []string) []string {
	args := []string{"claude-swarm", "--config", p.file.Path, "start", "--foreground"}
	if fd != 0 {
		args = append(args, fmt.Sprintf("--ready-fd=%d", fd))
	}
	return slices.Concat(args, flags, names)
}

// startDaemon starts the daemon in a separate session, so that no terminal
// takes it along, and waits until it says that it is ready or why not.
func startDaemon(c *cli.Context, p *project, names []string) error {
	if err := refuseTracked(c.Context, p); err != nil {
		return err
	}
	if err := p.file.CheckFolders(); err != nil {
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
	warnMissing(c.App.ErrWriter, p.file, names)
	warnUnread(c.App.ErrWriter, p.file, names)
	return nil
}

// refuseTracked refuses to start where git tracks the daemon's own files: the next
// commit would give the secrets of all agents away.
func refuseTracked(ctx context.Context, p *project) error {
	files, err := git.Tracked(ctx, os.Environ(), p.home.Dir())
	if err != nil || len(files) == 0 {
		return err
	}
	where := "git"
	if here, err := os.Getwd(); err != nil || here != p.dir {
		where += " -C " + shellWord(p.dir)
	}
	return fail(exitFailed, fmt.Sprintf("%s rm -r --cached %s, then %s commit", where, rendezvous.HomeName, where),
		"git tracks %s, with what no commit may hold: %s", rendezvous.HomeName, strings.Join(files[:min(len(files), 3)], ", "))
}

func spawn(ctx context.Context, p *project, flags, names []string) (birth, error) {
	self, err := os.Executable()
	if err != nil {
		return birth{}, err
	}
	// A panic is written where the rest of the story is.
	out, err := os.OpenFile(p.home.DaemonLog(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return birth{}, err
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return birth{}, err
	}
	defer r.Close()
	cmd := &exec.Cmd{
		Path: self, Args: daemonArgs(p, 3, flags, names), Dir: p.file.Dir, Env: withoutMarks(os.Environ()),
		Stdout: out, Stderr: out, ExtraFiles: []*os.File{w},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	err = errors.Join(cmd.Start(), w.Close())
	if err != nil {
		return birth{}, fmt.Errorf("start the daemon: %w", err)
	}
	pid := cmd.Process.Pid
	if err := cmd.Process.Release(); err != nil {
		return birth{}, err
	}
	if err := r.SetReadDeadline(time.Now().Add(birthTimeout)); err != nil {
		return birth{}, err
	}
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	var b birth
	switch err := json.NewDecoder(r).Decode(&b); {
	case err == nil:
		return b, nil
	case ctx.Err() != nil:
		return b, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return b, fail(exitTimeout, "claude-swarm status", "the daemon (pid %d) is not ready after %v", pid, birthTimeout)
	case errors.Is(err, io.EOF):
		return b, fail(exitFailed, "tail "+p.home.DaemonLog(), "the daemon died before it was ready")
	default:
		return b, fmt.Errorf("wait for the daemon: %w", err)
	}
}
