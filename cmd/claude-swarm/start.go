package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func startCommand() *cli.Command {
	return &cli.Command{
		Name: "start", Category: groupDaemon, ArgsUsage: "[AGENT…]",
		Usage: "start the daemon, or agents of a running one",
		Description: `Starts the daemon of this project and returns when it is ready, or shows why it
cannot start. With names, only these agents work; the others are stopped until
you start them by name. If the daemon is already running, names start agents
that are stopped.

The daemon keeps running when the terminal is closed. Its log is
.claude-swarm/daemon.log.` +
			examples("claude-swarm start", "claude-swarm start coder", "claude-swarm start --foreground"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "foreground", Usage: "stay in this terminal, for example under systemd"},
			&cli.BoolFlag{Name: "tmux", Usage: "show each agent in a tmux pane; closing it stops nothing"},
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
			return usagef("claude-swarm start --tmux", "--foreground and --tmux cannot be used together")
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

// settlePatience is how long start waits for a daemon that holds the project's lock but
// does not answer, because it has just been killed or is not listening yet.
const settlePatience = 2 * time.Second

// dialSettled connects to the daemon. It waits for a daemon that is starting or stopping.
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

// startAgents starts the named agents of a running daemon. Without names, the command
// line requests a second daemon, and startAgents returns an error unless --tmux requests
// the panes.
func startAgents(c *cli.Context, p *project, client *control.Client, names []string) error {
	if len(names) == 0 && !c.Bool("tmux") {
		if st, err := client.Status(c.Context); err != nil {
			return err
		} else if st.Daemon != nil && st.Daemon.Stopping {
			return fail(exitFailed, "claude-swarm stop --now, then claude-swarm start", "%w: it ends when the running turns have ended", swarm.ErrStopping)
		}
		return alreadyRuns(&runningError{discovery.ReadNote(p.home.LockFile())})
	}
	me, err := p.whoAmI(c.Context)
	if err != nil {
		return err
	}
	for _, name := range names {
		before, err := client.Status(c.Context, name)
		if err == nil {
			err = client.Start(c.Context, name, me.Name)
		}
		if err != nil {
			return err
		}
		said := "started"
		if len(before.Agents) == 1 && slices.Contains([]swarm.State{swarm.Idle, swarm.Queued, swarm.Working, swarm.Asking}, before.Agents[0].State) {
			said = "was not stopped"
		}
		fmt.Fprintf(c.App.Writer, "%s %s\n", name, said)
	}
	if len(names) > 0 {
		warnMissing(c.App.ErrWriter, p.file, names)
		warnUnread(c.App.ErrWriter, p.file, names)
		warnUnsorted(c.App.ErrWriter, p)
	}
	return nil
}

// foreground runs the daemon in the current process.
func foreground(c *cli.Context, p *project, names []string) error {
	if err := leaveTurn(p, c, names); err != nil {
		return err
	}
	order := daemonOrder{project: p, agents: names, by: "start", noTools: c.Bool(noMCP), noIRC: c.Bool(noBridge)}
	fd := c.Int("ready-fd")
	if fd == 0 {
		if err := refuseTracked(c, p); err != nil {
			return err
		}
		order.stderr = c.App.ErrWriter
		order.ready = func(grown []string) {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: ready, pid %d, agents %s\n", os.Getpid(), strings.Join(p.file.Names(), " "))
			printGrown(c.App.ErrWriter, grown)
			warnMissing(c.App.ErrWriter, p.file, names)
			warnUnread(c.App.ErrWriter, p.file, names)
			warnUnsorted(c.App.ErrWriter, p)
			writeNewer(c.App.ErrWriter, p.file, nil)
		}
		return runDaemon(c.Context, order)
	}
	syscall.CloseOnExec(fd) // agents must not inherit the file descriptor
	parent := os.NewFile(uintptr(fd), "ready")
	// An error is harmless, because it only means that the waiting start verb has exited.
	tell := func(b readiness) { _ = errors.Join(json.NewEncoder(parent).Encode(b), parent.Close()) }
	order.ready = func(grown []string) { tell(readiness{PID: os.Getpid(), Grown: grown}) }
	err := runDaemon(c.Context, order)
	if err != nil {
		tell(readiness{Problem: err.Error(), Next: nextStep(err), Code: exitCode(err)})
	}
	return err
}

// leaveTurn executes the program again without the turn's environment variables if it was
// started in a turn. Otherwise, this process would be terminated at the end of the turn,
// like every process with the turn's mark.
func leaveTurn(p *project, c *cli.Context, names []string) error {
	env := withoutMarks(os.Environ())
	if len(env) == len(os.Environ()) {
		return nil
	}
	self, err := ownProgram()
	if err != nil {
		return err
	}
	return syscall.Exec(self, daemonArgs(p, c.Int("ready-fd"), without(c), names), env)
}
