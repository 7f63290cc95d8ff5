package main

import (
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

func traceCommand() *cli.Command {
	return &cli.Command{
		Name:      "trace",
		Category:  groupMail,
		Usage:     "follow a message through every hop and turn",
		ArgsUsage: "ID",
		Description: `Prints the whole task that a message belongs to, as a tree: its messages with
sender and recipient, the turns that worked on them with their outcomes and
costs, and the messages that those turns sent. Inside a turn it shows only mail
to and from the agent.` +
			examples("claude-swarm trace k7f3q9m2xd", "claude-swarm trace k7f3 --json"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "the copies for IRC too, below the messages that they show"},
			jsonFlag(),
		},
		Action: onMessage(trace),
	}
}

func trace(c *cli.Context, p *post, id string) error {
	found, err := p.find(id)
	if err != nil {
		return err
	}
	if m, err := p.Store.Load(found); err == nil || p.Me.Name != dropbox.Lead {
		if err := private(p.MayReadMessage(found, m)); err != nil {
			return err
		}
	}
	t, err := view.TraceOf(p.Client, found)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, t)
	}
	for _, m := range t.Messages {
		m.From, m.To = p.Called(m.From), p.Called(m.To)
	}
	w := c.App.Writer
	tree{paletteOf(w), found.Entry.ID, p.file.ProjectDir, time.Now(), screenWidth(w), c.Bool("all")}.write(w, t)
	return nil
}
