package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func tasksAddCommand() *cli.Command {
	return &cli.Command{
		Name:      "add",
		Usage:     "add a task to the backlog of a role",
		ArgsUsage: "TEXT…",
		Description: `Publishes TEXT on the topic backlog.ROLE, and prints the id of the task. It is
offered to every agent that subscribes to this topic; the agent that claims it
first does it, and the end of its turn closes it. A person takes a task with
claim, and ends it with ack. topics lists the tasks of all backlogs that are not
done.` +
			examples(
				`claude-swarm tasks add "Port the parser to the new format" --role coder`,
				`claude-swarm tasks add --file idea.md --role coder --priority low`),
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "role", Usage: "the `ROLE` whose agents can do it: lower-case letters, digits, - and _"},
			fileFlag(),
			attachFlag(),
			&cli.StringFlag{Name: "subject", Usage: "one line of `TEXT` that says what it is about"},
			priorityFlag(),
			&cli.StringFlag{Name: "key", Usage: "add it only once: a repeat with the same `KEY` within 7 days does nothing"},
			jsonFlag(),
		},
		Action: tasksAdd,
	}
}

func tasksAdd(c *cli.Context) error {
	role := c.String("role")
	if role == "" {
		return usagef(`claude-swarm tasks add "…" --role coder`, "tasks add: which role can do it?")
	}
	m := &dropbox.Message{Topic: topic.BacklogOf(role), Type: dropbox.Task, Subject: screen.OneLine(c.String("subject")), Key: c.String("key")}
	if err := topic.Check(m.Topic); err != nil {
		return usagef(`claude-swarm tasks add "…" --role coder`, "tasks add: %w", err)
	}
	var err error
	if m.Priority, err = priorityOf(c); err != nil {
		return err
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	text := textSource{
		words: c.Args().Slice(), file: c.String("file"), stdin: c.App.Reader,
		as: "claude-swarm tasks add --role " + shellWord(role), most: p.longest(m.Type), readable: p.Readable,
	}
	if m.Body, err = text.read(); err != nil {
		return err
	}
	if m.Attachments, err = p.attachments(c); err != nil {
		return err
	}
	sent, err := p.Publish(m)
	if sent.ID == "" && err != nil {
		return p.refused(err, m.Topic)
	}
	if err := errors.Join(err, printPublished(c, sent)); err != nil {
		return err
	}
	return p.sayWhoListens(c, m.Topic, sent)
}
