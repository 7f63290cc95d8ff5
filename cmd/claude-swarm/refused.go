package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/view"
)

func refusedCommand() *cli.Command {
	return &cli.Command{
		Name:     "refused",
		Category: groupMail,
		Usage:    "manage messages that a rule refused",
		Description: `A message that a rule refuses is kept with the reason, for as long as
retention in claude-swarm.yaml allows. To look at one: claude-swarm read ID.` +
			examples("claude-swarm refused list", "claude-swarm refused retry k7f3q9m2xd"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: withPost(refusedList), // without a subcommand, it lists the messages
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list them", ArgsUsage: "[AGENT…]",
				Description: `Lists what was refused on its way to the named agents, or to all, oldest first,
with the reasons.` +
					examples("claude-swarm refused list coder --json"),
				Flags: []cli.Flag{jsonFlag()}, Action: withPost(refusedList),
			},
			{
				Name: "retry", Usage: "let one through", ArgsUsage: "ID…",
				Description: `Delivers refused messages to their recipients, regardless of the rules. Only you
may do this, not an agent.` +
					examples("claude-swarm refused retry k7f3q9m2xd"),
				Flags: []cli.Flag{jsonFlag()}, Action: refusedRetry,
			},
		},
	}
}

func refusedList(c *cli.Context, p *post) error {
	list, err := p.refusals(c.Args().Slice()...)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int            `json:"v"`
			Refused []view.Refusal `json:"refused"`
		}{1, list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "nothing was refused")
		return err
	}
	for _, r := range list {
		writeLetter(c.App.Writer, r, r.Created, p.Called(r.From)+" → "+r.To, r.Reason)
	}
	fmt.Fprintln(c.App.Writer)
	writeSteps(c.App.Writer, "look: claude-swarm read "+list[0].ID, "let through: claude-swarm refused retry "+list[0].ID)
	return nil
}

func refusedRetry(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("claude-swarm refused list", "refused retry: name the messages")
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	all, err := p.refusals()
	if err != nil {
		return err
	}
	picked, err := pick(all, c.Args().Slice(), "refused messages", func(id string) error {
		return unfound("claude-swarm refused list", "refused message", "", id)
	})
	if err != nil {
		return err
	}
	var to []string
	for _, r := range picked {
		box, err := p.Mailbox(r.To)
		if err == nil {
			err = box.Refusals().Readmit(r.Entry, true)
		}
		if err != nil {
			return err
		}
		to = append(to, r.To)
	}
	err = sayLetters(c, "let through", picked, "message")
	p.sayHoldups(c, to...)
	return err
}
