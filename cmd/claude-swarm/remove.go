package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func removeCommand() *cli.Command {
	return &cli.Command{
		Name:      "remove",
		Category:  groupAgents,
		Usage:     "remove an agent that is no longer in claude-swarm.yaml",
		ArgsUsage: "AGENT",
		Description: `First remove the agent's entry from claude-swarm.yaml. This verb then
removes the agent from the running swarm. You decide what happens to the mail
waiting for it: --to gives each message to another agent, with the same
sender and thread; --keep leaves the mail where it is, and you get no further
reminders. Its subscriptions end, and published work that it claimed is offered
to others.

Its old mail, history and log stay, and can be read under its name.` +
			examples("claude-swarm remove idle --to coder", "claude-swarm remove idle --keep"),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "to", Usage: "give its waiting mail to `OTHER`"},
			&cli.BoolFlag{Name: "keep", Usage: "leave the mail where it is"},
			jsonFlag(),
		},
		Action: removeAgent,
	}
}

func removeAgent(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("claude-swarm remove AGENT --to OTHER", "remove: name one agent")
	}
	name, to := c.Args().First(), c.String("to")
	proj, err := loadProject(c)
	if err != nil {
		return err
	}
	p, err := proj.openPost(c.Context)
	if err != nil {
		return err
	}
	defer p.close()
	if _, there := p.file.Agent(name); there {
		return fail(exitFailed, "${EDITOR:-vi} "+shellWord(p.file.Path)+", then claude-swarm remove "+name+" again",
			"%s is still in %s: remove its entry first", name, p.file.Path)
	}
	if !p.isGone(name) {
		return unknownAgent(name, dropbox.Nearest(name, p.file.Names()), p.file.Names(), "claude-swarm remove %s")
	}
	if (to != "") == c.Bool("keep") {
		return usagef("claude-swarm remove "+shellWord(name)+" --keep", "remove: say what to do with its mail: --to OTHER or --keep")
	}
	if to != "" {
		if _, err := p.agent(to, "claude-swarm remove "+name+" --to %s"); err != nil {
			return err
		}
	}
	err = ask(c, p.project, func(client *control.Client, by string) error {
		_, err := client.Reload(c.Context, by, false)
		return err
	})
	if err != nil && !errors.Is(err, control.ErrNoDaemon) {
		return err
	}
	if err := p.HandBack(name); err != nil {
		return err
	}
	list := []client.Forward{}
	if to == "" {
		err = p.home.KeepMail(name)
	} else {
		list, err = p.Forward(name, to)
	}
	if errors.Is(err, client.ErrUnsettled) {
		return fail(exitFailed, "claude-swarm start, wait until the turn has ended, then claude-swarm remove "+name+" --to "+to,
			"%s has begun work on a message, and its turn has not been settled", name)
	} else if err != nil {
		return hint(err, "claude-swarm doctor")
	}
	return sayRemoved(c, name, to, list)
}

func sayRemoved(c *cli.Context, name, to string, list []client.Forward) error {
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V         int              `json:"v"`
			Agent     string           `json:"agent"`
			Kept      bool             `json:"kept"`
			Forwarded []client.Forward `json:"forwarded"`
		}{1, name, to == "", list})
	}
	text := "its mail stays where it is"
	if to != "" {
		text = fmt.Sprintf("%s to %s", screen.Count(len(list), "message"), to)
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s is removed: %s\n", name, text)
	return err
}
