package main

import (
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/view"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupAgents, ArgsUsage: "[AGENT…]",
		Usage: "what the agents are doing, what is waiting, what needs you",
		Description: `Shows each agent with its state, since when and why, its waiting mail, its dead
letters, what it cost today, its task and what to do next. If the agents have
clients of different kinds, it names them. It also works without a daemon, from
the files.

4 (1!) in MAIL means 4 messages, 1 of them urgent; - means none. A line that
begins with ! reports a problem with the daemon itself.` +
			examples("claude-swarm status", "claude-swarm status --short", "claude-swarm status coder --json", "claude-swarm status --watch"),
		Flags: []cli.Flag{
			jsonFlag(),
			&cli.BoolFlag{Name: "short", Usage: "one line for each agent"},
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "redraw it whenever something changes, until Ctrl-C"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("watch") {
				return watchStatus(c)
			}
			st, err := statusNow(c)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return printJSON(c.App.Writer, view.StatusOf(st))
			}
			if _, err := io.WriteString(c.App.Writer, draw(st, lookOf(c, time.Now())).String()); err != nil {
				return err
			}
			if p, err := loadProject(c); err == nil && !c.Bool("short") { // status works without a valid configuration
				writeNewer(c.App.Writer, p.file, st.Agents)
			}
			return nil
		},
	}
}
