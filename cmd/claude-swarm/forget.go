package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/control"
)

func compactCommand() *cli.Command {
	return &cli.Command{
		Name: "compact", Category: groupAgents, ArgsUsage: "AGENT",
		Usage: "make an agent's client summarize its conversation",
		Description: `Before the agent's next message its client compacts its context, in a separate
turn: the client summarizes the conversation, and the agent is shown its latest
work. A running turn ends first. If the agent or the daemon stops meanwhile, the
order waits for the next start. While the compaction runs, abort ends it.` +
			examples("claude-swarm compact coder"),
		Action: func(c *cli.Context) error {
			return forget(c, (*control.Client).Compact, "%s: the context will be compacted before the next message\n")
		},
	}
}

func clearCommand() *cli.Command {
	return &cli.Command{
		Name: "clear", Category: groupAgents, ArgsUsage: "AGENT",
		Usage: "make an agent forget its conversation",
		Description: `The agent's next message begins a fresh session, which knows nothing of the old
one. What it has to know belongs in .dead-drop/board/handoff/AGENT.md, which it
reads first. A running turn ends first.` +
			examples("claude-swarm clear coder"),
		Action: func(c *cli.Context) error {
			return forget(c, (*control.Client).Clear, "%s: the next message begins a fresh session\n")
		},
	}
}

// forget orders the daemon to clear or compact the context of an agent. The argument said is
// the text to print afterwards, with %s in place of the agent's name.
func forget(c *cli.Context, order func(*control.Client, context.Context, string, string) error, said string) error {
	p, agent, err := oneAgent(c)
	if err != nil {
		return err
	}
	return ask(c, p, func(client *control.Client, by string) error {
		if err := order(client, c.Context, agent, by); err != nil {
			return err
		}
		_, err := fmt.Fprintf(c.App.Writer, said, agent)
		return err
	})
}
