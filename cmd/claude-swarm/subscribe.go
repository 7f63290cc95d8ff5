package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func subscribeCommand() *cli.Command {
	return &cli.Command{
		Name:      "subscribe",
		Category:  groupTopics,
		Usage:     "subscribe an agent to topics",
		ArgsUsage: "PATTERN…",
		Description: `Subscribes an agent to the topics that match a PATTERN: task.created, or with *
for any one word (task.*), or with > at the end for one or more words
(review.>). Inside a turn its agent subscribes; otherwise name the agent with
--agent. The subscription lasts until unsubscribe. All patterns of the agent are
printed.` +
			examples("claude-swarm subscribe task.created --agent coder", "claude-swarm subscribe 'review.*' 'status.>' --agent reviewer"),
		Flags:  []cli.Flag{agentFlag(), jsonFlag()},
		Action: func(c *cli.Context) error { return changeSubscriptions(c, (*client.Client).Subscribe) },
	}
}

func unsubscribeCommand() *cli.Command {
	return &cli.Command{
		Name:      "unsubscribe",
		Category:  groupTopics,
		Usage:     "end an agent's subscriptions",
		ArgsUsage: "[PATTERN…]",
		Description: `Removes patterns of an agent, or all of them. Earlier offers stay in its
mailbox.` +
			examples("claude-swarm unsubscribe task.created --agent coder", "claude-swarm unsubscribe --agent coder"),
		Flags:  []cli.Flag{agentFlag(), jsonFlag()},
		Action: func(c *cli.Context) error { return changeSubscriptions(c, (*client.Client).Unsubscribe) },
	}
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "the `AGENT` whose subscriptions change; default: the turn's agent, else you"}
}

func changeSubscriptions(c *cli.Context, change func(*client.Client, string, ...string) ([]string, error)) error {
	patterns := c.Args().Slice()
	if len(patterns) == 0 && c.Command.Name == "subscribe" {
		return usagef("claude-swarm subscribe task.created --agent coder", "subscribe: name the topics")
	}
	for _, p := range patterns {
		if err := topic.CheckPattern(p); err != nil {
			return usagef("claude-swarm "+c.Command.Name+" 'task.*'", "%w", err)
		}
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	if len(patterns) > 1 && !c.IsSet("agent") {
		if _, is := p.file.Agent(patterns[0]); is {
			return usagef(commandText(append(append([]string{c.Command.Name}, patterns[1:]...), "--agent", patterns[0])), "%s: %s is an agent, not a topic", c.Command.Name, patterns[0])
		}
	}
	name := p.Me.Name
	if asked := c.String("agent"); asked != "" {
		names, err := p.agents([]string{asked}, "claude-swarm "+c.Command.Name+" --agent %s")
		if err != nil {
			return err
		}
		name = names[0]
	}
	if err := mayActFor(p.Me, name, "change the topics of another agent"); err != nil {
		return err
	}
	had, err := p.Subscriptions()
	if err != nil {
		return err
	}
	has, err := change(p.Client, name, patterns...)
	if err != nil {
		return p.refused(err, name)
	}
	if c.Command.Name == "unsubscribe" {
		for _, pattern := range patterns {
			if !slices.Contains(had[name], pattern) {
				fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s did not subscribe to %s\n", name, pattern)
			}
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V        int      `json:"v"`
			Agent    string   `json:"agent"`
			Patterns []string `json:"patterns"`
		}{1, name, append([]string{}, has...)})
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s: %s\n", name, orNone(has))
	return err
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "no topics"
	}
	return strings.Join(words, " ")
}

func topicsCommand() *cli.Command {
	return &cli.Command{
		Name:        "topics",
		Category:    groupTopics,
		Usage:       "list who subscribes to what, and the published work",
		Description: `Lists the subscriptions of each agent, and the published work that is not done.` + examples("claude-swarm topics"),
		Flags:       []cli.Flag{jsonFlag()},
		Action:      topics,
	}
}

func topics(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	subscriptions, err := p.Subscriptions()
	if err != nil {
		return err
	}
	work, err := p.OpenWork()
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V             int                 `json:"v"`
			Subscriptions map[string][]string `json:"subscriptions"`
			Open          []client.OpenWork   `json:"open"`
		}{1, subscriptions, work})
	}
	return writeTopics(c, append(p.file.Names(), dropbox.Lead), subscriptions, work)
}

func writeTopics(c *cli.Context, names []string, subscriptions map[string][]string, work []client.OpenWork) error {
	w := c.App.Writer
	if len(subscriptions) == 0 && len(work) == 0 {
		_, err := fmt.Fprintln(w, screen.Whole("nobody subscribes, and nothing is published   next: claude-swarm subscribe PATTERN --agent AGENT", textWidth(w)))
		return err
	}
	t := table{width: screenWidth(w)}
	t.add("AGENT", "SUBSCRIBES TO")
	for _, name := range slices.DeleteFunc(names, func(n string) bool { return subscriptions[n] == nil }) {
		t.add(name, strings.Join(subscriptions[name], " "))
	}
	t.write(w, nil)
	if len(work) == 0 {
		return nil
	}
	fmt.Fprintln(w)
	now := time.Now()
	t = table{width: screenWidth(w), keep: 2}
	t.add("ID", "TOPIC", "FOR", "CLAIMED BY", "WORK")
	for _, v := range work {
		by := v.Claimed
		if by == "" {
			by = "-"
		}
		t.add(v.ID, v.Topic, since(v.Since, now), by, v.Subject)
	}
	t.write(w, nil)
	return nil
}
