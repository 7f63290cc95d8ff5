package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/door"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func refusedCommand() *cli.Command {
	return &cli.Command{
		Name:     "refused",
		Category: groupMail,
		Usage:    "look after messages that a rule refused",
		Description: `A message that a rule does not let pass is kept with the reason. Nothing is
removed by itself. To look at one: claude-swarm read ID.` +
			examples("claude-swarm refused list", "claude-swarm refused retry k7f3q9m2xd"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: withPost(refusedList), // alone it lists
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
				Description: `Gives refused messages to those whom they are for, whatever the rules say. Only
you may do that, no agent.` +
					examples("claude-swarm refused retry k7f3q9m2xd"),
				Flags: []cli.Flag{jsonFlag()}, Action: refusedRetry,
			},
		},
	}
}

// A refusedView is a refused message as --json prints it.
type refusedView struct {
	ID      string       `json:"id"`
	To      string       `json:"to"`
	From    string       `json:"from"`
	Type    dropbox.Type `json:"type"`
	Subject string       `json:"subject,omitempty"` // or the beginning of the text
	Thread  string       `json:"thread"`
	Created time.Time    `json:"created"`
	Refused time.Time    `json:"refused"`
	Reason  string       `json:"reason"`

	box   *dropbox.Mailbox
	entry dropbox.Entry
}

func (r refusedView) id() string         { return r.ID }
func (r refusedView) created() time.Time { return r.Created }
func (r refusedView) candidate() door.Candidate {
	return door.Candidate{ID: r.ID, From: cmp.Or(r.From, "?"), To: r.To, Type: r.Type, Subject: r.Subject}
}

// refusals lists what was refused on its way to the named mailboxes, or to all,
// oldest first.
func (p *post) refusals(names ...string) ([]refusedView, error) {
	return lettersIn(p, names, "claude-swarm refused list %s", func(box *dropbox.Mailbox) ([]refusedView, error) {
		var list []refusedView
		refusals, err := box.Refusals()
		for _, r := range refusals {
			list = append(list, p.refusedView(box, r))
		}
		return list, err
	})
}

func (p *post) refusedView(box *dropbox.Mailbox, r dropbox.Refusal) refusedView {
	v := refusedView{ID: r.ID, To: box.Name(), Created: r.Created, Refused: r.At, Reason: cmp.Or(r.Reason, noReason), box: box, entry: r.Entry}
	if found, err := p.Store.Find(r.ID); err == nil {
		if m, err := p.Store.Load(found); err == nil {
			v.From, v.Type, v.Subject, v.Thread = m.From, m.Type, m.Gist(), m.Thread
		}
	}
	return v
}

func refusedList(c *cli.Context, p *post) error {
	list, err := p.refusals(c.Args().Slice()...)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int           `json:"v"`
			Refused []refusedView `json:"refused"`
		}{1, list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "nothing was refused")
		return err
	}
	for _, r := range list {
		writeLetter(c.App.Writer, r, p.Called(r.From)+" → "+r.To, r.Subject, r.Reason)
	}
	fmt.Fprintf(c.App.Writer, "\nlook: claude-swarm read %s · let through: claude-swarm refused retry %s\n", list[0].ID, list[0].ID)
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
	if err := p.leadOnly("let a message through"); err != nil {
		return err
	}
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
		if err := r.box.Readmit(r.entry, true); err != nil {
			return err
		}
		to = append(to, r.To)
	}
	err = sayLetters(c, "let through", picked, "message")
	p.sayIfNobodyWorks(c, to...)
	return err
}

// leadOnly refuses an agent what is for the person to decide.
func (p *post) leadOnly(what string) error { return leadOnly(p.Me, what) }

func leadOnly(me swarm.Identity, what string) error {
	if me.Name == dropbox.Lead {
		return nil
	}
	return fail(exitRefused, askLead, "only the lead may %s, not %s", what, me.Name)
}

// askLead is how an agent gets what is not for it to decide.
const askLead = `claude-swarm send lead "why" --type question`
