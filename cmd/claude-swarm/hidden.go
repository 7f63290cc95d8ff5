package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// hookCommand is what the agents' client calls, not a person.
func hookCommand() *cli.Command {
	return &cli.Command{
		Name: "hook", Hidden: true, Usage: "called by the client of an agent",
		Description: "What the clients of agents call by themselves.",
		Subcommands: append([]*cli.Command{{
			Name: "compact", Usage: "give the window back after a compaction",
			Description: "The SessionStart hook after a compaction: prints what the agent did just before.",
			Action: func(c *cli.Context) error {
				turn, dir := os.Getenv(runner.MarkVar), os.Getenv(runner.DirVar)
				if turn == "" || dir == "" {
					return usagef("claude-swarm help", "hook compact: not inside a turn")
				}
				return swarm.HookCompact(swarm.HomeOf(dir), turn, c.App.Writer)
			},
		}}, sessionHooks()...),
	}
}

// standinCommand plays the claude program for demo, where the real one is
// missing.
func standinCommand() *cli.Command {
	return &cli.Command{
		Name: "standin", Hidden: true, SkipFlagParsing: true,
		Usage:       "play the claude program",
		Description: "A scripted stand-in for the claude program.",
		Action: func(c *cli.Context) error {
			if code := standin.Main(c.Args().Slice(), os.Environ(), os.Stdin, os.Stdout, os.Stderr); code != 0 {
				os.Exit(code) // its status is the real program's, and it has said why
			}
			return nil
		},
	}
}
