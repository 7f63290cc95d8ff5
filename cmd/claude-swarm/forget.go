package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func compactCommand() *cli.Command {
	return &cli.Command{
		Name: "compact", Category: groupAgents, ArgsUsage: "AGENT…",
		Usage: "make an agent's client summarize its conversation",
		Description: `Before the agent's next message its client compacts its context, in a separate
turn: the client summarizes the conversation, and the agent is shown its latest
work. A running turn ends first. If the agent or the daemon stops meanwhile, the
order waits for the next start. While the compaction runs, abort ends it. AGENT
is one name, several, or all.` +
			examples("claude-swarm compact coder", "claude-swarm compact all"),
		Action: func(c *cli.Context) error {
			return forget(c, (*control.Client).Compact, "%s: the context will be compacted before the next message\n")
		},
	}
}

func clearCommand() *cli.Command {
	return &cli.Command{
		Name: "clear", Category: groupAgents, ArgsUsage: "AGENT…",
		Usage: "make an agent forget its conversation",
		Description: `The agent's next message begins a fresh session, which knows nothing of the old
one. What it has to know belongs in .dead-drop/board/handoff/AGENT.md, which it
reads first. A running turn ends first. AGENT is one name, several, or all.` +
			examples("claude-swarm clear coder", "claude-swarm clear all"),
		Action: func(c *cli.Context) error {
			return forget(c, (*control.Client).Clear, "%s: the next message begins a fresh session\n")
		},
	}
}

// forget orders the daemon to clear or compact the contexts of the named agents. The argument
// said is the text to print for each agent, with %s in place of its name.
func forget(c *cli.Context, order func(*control.Client, context.Context, string, string) error, said string) error {
	return eachAgent(c, notAttachedOnly, func(client *control.Client, by, agent string) (string, error) {
		return fmt.Sprintf(said, agent), order(client, c.Context, agent, by)
	})
}

// notAttachedOnly returns an error for an agent whose session a person runs. `clear all` and
// `compact all` skip such agents.
func notAttachedOnly(a swarm.AgentStatus) error {
	if a.State == swarm.Away {
		return fail(exitFailed, "/compact or /clear in that session", "a person, not the daemon, runs the session of %s", a.Name)
	}
	return nil
}
