package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func ircRunCommand() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run the bridge to IRC separately from the daemon",
		Description: `Runs the bridge in this terminal until Ctrl-C, if the configuration has irc:
{apart: true}: the daemon then runs no bridge, and each can end without the
other. SIGHUP reloads the configuration. Without apart, the daemon runs the
bridge, and this verb is refused while the daemon is running.` +
			examples("claude-swarm irc run"),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			p, err := loadProject(c)
			if err != nil {
				return err
			}
			return runApart(c, p)
		},
	}
}

// runApart runs a bridge in the current process, separately from the daemon.
func runApart(c *cli.Context, p *project) error {
	if !p.file.IRC.On() {
		return noIRC()
	}
	if err := p.home.Make(); err != nil {
		return err
	}
	store, err := openOwnStore(p)
	if err != nil {
		return err
	}
	defer store.Close()
	sigs := make(chan os.Signal, 4)
	signal.Notify(sigs, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(sigs)
	log := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	for {
		again, err := bridgeUntil(c.Context, sigs, p, store, log)
		if !again || err != nil {
			return err
		}
		file, err := config.Load(p.file.Path)
		switch {
		case err != nil:
			log.Warn("the old configuration stays in force", "err", err)
		case !file.IRC.On():
			return noIRC()
		case file.DeadDropDir != p.file.DeadDropDir:
			log.Warn("the old configuration stays in force: a change to dead_drop_dir needs a restart")
		default:
			p.file = file
		}
	}
}

// bridgeUntil runs one bridge until it stops or a signal arrives. After SIGHUP, the result
// again is true. The caller must then reload the configuration and call bridgeUntil again.
func bridgeUntil(ctx context.Context, sigs <-chan os.Signal, p *project, store *dropbox.Store, log *slog.Logger) (again bool, err error) {
	o, err := ircOptions(p, store, log)
	if err != nil {
		return false, err
	}
	o.Swarm = daemonVoice{p, store}
	b, err := ircbridge.New(o)
	if err != nil {
		return false, fail(exitConfig, "claude-swarm config check", "%w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.Run(ctx) }() // the code below waits until this goroutine ends
	log.Info("bridge begins", "server", p.file.IRC.Server, "pid", os.Getpid())
	select {
	case err = <-ended:
	case sig := <-sigs:
		again = sig == syscall.SIGHUP
		cancel()
		err = <-ended
	}
	cancel()
	if errors.Is(err, bridge.ErrRunning) {
		next := "claude-swarm status"
		if !p.file.IRC.Apart {
			next = "irc: {apart: true}, then claude-swarm reload and claude-swarm irc run"
		}
		return false, hint(err, "%s", next)
	}
	return again, err
}
