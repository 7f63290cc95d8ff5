package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func publishCommand() *cli.Command {
	return &cli.Command{
		Name:      "publish",
		Category:  groupTopics,
		Usage:     "publish work or news on a topic",
		ArgsUsage: "TOPIC TEXT…",
		Description: `Publishes TEXT on TOPIC: words separated by dots, such as task.created,
review.requested or status.update. Work (a task, a question, a handoff) is
offered to every agent that subscribes, and the agent that claims it first does
it; the result comes to you. A status or a note goes to all of them and gets no
answer.

The id of the publication is printed; for a status or a note, the ids of the
copies.` +
			examples(
				`claude-swarm publish task.created "Port the parser to the new format"`,
				`claude-swarm publish review.requested --file diff-notes.md --attach fix.patch`,
				`claude-swarm publish status.update "main is green again" --type status`),
		Flags: []cli.Flag{
			fileFlag(),
			attachFlag(),
			&cli.StringFlag{Name: "subject", Usage: "one line of `TEXT` that says what it is about"},
			&cli.StringFlag{Name: "type", Value: string(dropbox.Task), Usage: "`TYPE`: task, question, handoff, status or note; default task"},
			priorityFlag(),
			&cli.StringFlag{Name: "thread", Usage: "continue the conversation `ID`"},
			&cli.StringFlag{Name: "key", Usage: "publish it only once: a repeat with the same `KEY` within 7 days does nothing"},
			jsonFlag(),
		},
		Action: publish,
	}
}

func publish(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef(`claude-swarm publish task.created "what to do"`, "publish: give a topic and the text")
	}
	name := c.Args().First()
	m := &dropbox.Message{Topic: name, Type: dropbox.Type(c.String("type")), Subject: screen.OneLine(c.String("subject")), Key: c.String("key")}
	if err := topic.Check(name); err != nil {
		return usagef(`claude-swarm publish task.created "…"`, "%w", err)
	}
	if !m.Type.Valid() || m.Type == dropbox.Result {
		return badWord("type", string(m.Type), []string{"task", "question", "handoff", "status", "note"})
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
		words: c.Args().Tail(), file: c.String("file"), stdin: c.App.Reader,
		as: "claude-swarm publish " + shellWord(name), most: p.longest(m.Type), readable: p.Readable,
	}
	if m.Body, err = text.read(); err != nil {
		return err
	}
	if id := c.String("thread"); id != "" {
		_, old, err := p.message(id)
		if err != nil {
			return err
		}
		m.Thread, m.Trace = old.Thread, old.Trace
	}
	if m.Attachments, err = p.attachments(c); err != nil {
		return err
	}
	sent, err := p.Publish(m)
	if sent.ID == "" && err != nil {
		return p.refused(err, name)
	}
	if err := errors.Join(err, printPublished(c, sent)); err != nil {
		return err
	}
	return p.sayWhoListens(c, name, sent)
}

func printPublished(c *cli.Context, sent topic.Published) error {
	if sent.Duplicate {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: duplicate of %s: not published again\n", sent.ID)
	}
	if c.Bool("json") {
		offered := []string{}
		for _, d := range sent.Offered {
			offered = append(offered, d.To)
		}
		return printJSON(c.App.Writer, struct {
			V         int      `json:"v"`
			ID        string   `json:"id"` // "" for a status or a note
			Offered   []string `json:"offered"`
			Duplicate bool     `json:"duplicate"`
		}{1, sent.ID, offered, sent.Duplicate})
	}
	ids := []string{sent.ID}
	if sent.ID == "" {
		ids = nil
		for _, d := range sent.Offered {
			ids = append(ids, d.ID)
		}
	}
	for _, id := range ids {
		if _, err := fmt.Fprintln(c.App.Writer, id); err != nil {
			return err
		}
	}
	return nil
}

// sayWhoListens prints a warning if a publication reaches no agent or must wait in the
// receivers' mailboxes.
func (p *post) sayWhoListens(c *cli.Context, name string, sent topic.Published) error {
	if len(sent.Offered) == 0 && !sent.Duplicate {
		own, err := p.Subscribes(p.Me.Name, name)
		if err != nil {
			return err
		}
		who := "nobody subscribes to " + name
		if own {
			who = fmt.Sprintf("only %s subscribes to %s, and nobody gets what they publish themselves", p.Me.Name, name)
		}
		_, err = fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n  try: claude-swarm subscribe %s --agent %s\n", who, name, p.listener(name))
		return err
	}
	var to []string
	for _, d := range sent.Offered {
		to = append(to, d.To)
	}
	p.sayHoldups(c, to...)
	return nil
}

// listener returns the agent that the hint about a topic without subscribers names: the one
// that gets unclaimed work, or the first agent that the daemon wakes. The session of a person
// takes up no published work while the person does something else.
func (p *post) listener(name string) string {
	if f := p.file.Topics.For(name).Fallback; slices.Contains(p.file.Names(), f) && f != p.Me.Name {
		return f
	}
	others := slices.DeleteFunc(slices.Clone(p.file.Agents), func(a config.Agent) bool { return a.Name == p.Me.Name })
	if i := slices.IndexFunc(others, func(a config.Agent) bool { return !a.Attached }); i >= 0 {
		return others[i].Name
	}
	return append(others, p.file.Agents...)[0].Name
}
