package main

import (
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// hookCommand returns the verb that the agents' clients call. People do not call it.
func hookCommand() *cli.Command {
	return &cli.Command{
		Name: "hook", Hidden: true, Usage: "called by an agent's client",
		Description: "Called by the clients of agents, not by people.",
		Subcommands: append([]*cli.Command{{
			Name: "compact", Usage: "restore the window after a compaction",
			Description: "The SessionStart hook after a compaction: prints what the agent did just before.",
			Action: func(c *cli.Context) error {
				mark, dir := os.Getenv(runner.MarkVar), os.Getenv(runner.DirVar)
				if mark == "" || dir == "" {
					return usagef("claude-swarm help", "hook compact: not inside a turn")
				}
				home := journal.HomeOf(dir)
				me, err := whoAmI(c.Context, dir)
				if err != nil {
					return err
				}
				// The environment could name a turn of another agent, whose window the caller may not read.
				if its, err := home.TurnOf(mark); err != nil || its != me.Turn {
					return errors.Join(err, fail(exitRefused, askLead, "turn %s does not belong to %s", its, me.Name))
				}
				return turn.HookCompact(home, backends.New(), mark, c.App.Writer)
			},
		}, echoCommand()}, sessionHooks()...),
	}
}
