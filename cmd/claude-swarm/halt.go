package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func haltCommand() *cli.Command {
	return &cli.Command{
		Name: "halt", Category: groupAgents, ArgsUsage: "[WHY…]",
		Usage: "keep all agents from beginning turns, until unhalt",
		Description: `Puts the file HALT into the mailboxes' folder: while it is there, no agent
claims a message. Running turns continue; mail waits. It works without a daemon
and with a broken configuration, and stays in force after every restart; touch
.dead-drop/HALT does the same.

With --thread it halts one conversation: its messages wake no agent, and further
ones are refused, except notes and mail to the lead.` +
			examples("claude-swarm halt", "claude-swarm halt the disk is full", "claude-swarm halt --thread k7f3q9m2xd"),
		Flags: []cli.Flag{&cli.StringFlag{Name: "thread", Usage: "halt only the conversation of the message `ID`"}},
		Action: func(c *cli.Context) error {
			why := screen.OneLine(strings.Join(c.Args().Slice(), " "))
			if id := c.String("thread"); id != "" {
				return withPost(func(c *cli.Context, p *post) error { return haltThread(c, p, id, why) })(c)
			}
			store, me, err := openFolder(c)
			if err != nil {
				return err
			}
			defer store.Close()
			by := "by " + me.Name
			if why != "" {
				by += ": " + why
			}
			if store.Halted() {
				return alreadyHalted(c, "everything is", store.HaltReason(), "claude-swarm unhalt")
			}
			if err := store.Halt(by); err != nil {
				return err
			}
			fmt.Fprintln(c.App.Writer, "halted: no new turn begins; running turns continue\n  next: claude-swarm unhalt")
			return nil
		},
	}
}

func unhaltCommand() *cli.Command {
	return &cli.Command{
		Name: "unhalt", Category: groupAgents,
		Usage: "let the agents work again after halt",
		Description: `Removes the file HALT. Only you may do this, not an agent.

With --thread it lets one conversation continue, and delivers the messages that
were refused because of the halt.` +
			examples("claude-swarm unhalt", "claude-swarm unhalt --thread k7f3q9m2xd"),
		Flags: []cli.Flag{&cli.StringFlag{Name: "thread", Usage: "let the conversation of the message `ID` continue"}},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if id := c.String("thread"); id != "" {
				return withPost(func(c *cli.Context, p *post) error { return unhaltThread(c, p, id) })(c)
			}
			store, _, err := openFolder(c)
			if err != nil {
				return err
			}
			defer store.Close()
			if !store.Halted() {
				fmt.Fprintln(c.App.Writer, "was not halted")
				return nil
			}
			if err := store.Unhalt(); err != nil {
				return err
			}
			fmt.Fprintln(c.App.Writer, "the agents work again")
			return nil
		},
	}
}

// alreadyHalted reports that the first halt and its reason remain in force. A person can
// then ask whoever ordered that halt before resuming the work.
func alreadyHalted(c *cli.Context, what, why, next string) error {
	if why = screen.OneLine(why); why == "" {
		why = "by hand"
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s already halted, %s; the reason stays the same\n  next: %s\n", what, why, next)
	return err
}

func haltThread(c *cli.Context, p *post, id, why string) error {
	thread, err := p.thread(id)
	if err != nil {
		return err
	}
	if h, err := p.Store.Threads().Halted(thread); err != nil {
		return err
	} else if h != nil {
		return alreadyHalted(c, "the conversation "+thread+" is", h.Why, "claude-swarm unhalt --thread "+shellWord(thread))
	}
	if err := p.HaltThread(thread, why); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "the conversation %s is halted; running turns continue\n  next: claude-swarm unhalt --thread %s\n", thread, shellWord(thread))
	return err
}

func unhaltThread(c *cli.Context, p *post, id string) error {
	thread, err := p.thread(id)
	if err != nil {
		return err
	}
	halted, err := p.Store.Threads().Halted(thread)
	if err != nil {
		return err
	} else if halted == nil {
		fmt.Fprintf(c.App.Writer, "the conversation %s was not halted\n", thread)
		return nil
	}
	back, err := p.UnhaltThread(thread)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("the conversation %s continues", thread)
	if back > 0 {
		text += fmt.Sprintf("; %s put back", screen.Count(back, "message"))
	}
	_, err = fmt.Fprintln(c.App.Writer, text)
	return err
}

// thread finds a conversation. The argument id is the name of a halted conversation or the
// id of any message that the caller may read.
func (p *post) thread(id string) (string, error) {
	if h, err := p.Store.Threads().Halted(id); h != nil || err != nil {
		return id, err
	}
	found, m, err := p.message(id)
	if err != nil {
		return "", err
	}
	return m.Thread, private(p.MayReadMessage(found, m))
}
