package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

func replyCommand() *cli.Command {
	wait := &optionalSpan{}
	return &cli.Command{
		Name:      "reply",
		Category:  groupMail,
		Usage:     "answer a message in your mailbox",
		ArgsUsage: "[ID] TEXT…",
		Description: `Sends TEXT to the sender of the message ID, in the same conversation, and files
that message. The id of the answer is printed. If exactly one question is in
your mailbox, a TEXT of one word or in quotes needs no ID.

The answer to a task or a question is a result. When the lead answers anything
else, the answer is a new task. Between agents it is a note, which wakes no
agent, so that two programs do not answer each other endlessly. --type chooses
another type.

A question from the daemon (from: swarm) lists the words that answer it, and
says if a text does too. reply prints the outcome; the daemon files the
question.` +
			examples(`claude-swarm reply k7f3q9m2xd "Yes, go on"`, `claude-swarm reply "Yes, go on"`, `claude-swarm reply k7f3 "Now the tests" --wait`),
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "wait", Value: wait, Usage: "print the answer to a task or question when it comes; --wait=10m waits no longer than that"},
			fileFlag(),
			attachFlag(),
			&cli.StringFlag{Name: "type", Usage: "`TYPE`: task, question, result, status, handoff or note"},
			priorityFlag(),
			jsonFlag(),
		},
		Action: func(c *cli.Context) error { return reply(c, *wait) },
	}
}

func reply(c *cli.Context, wait optionalSpan) error {
	if c.NArg() == 0 {
		return usagef("claude-swarm inbox", "reply: give the message and the text")
	}
	id, words := c.Args().First(), c.Args().Tail()
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	found, old, err := p.message(id)
	if err != nil && len(words) == 0 && !c.IsSet("file") {
		if id, err = p.onlyQuestion(id, err); err != nil {
			return err
		}
		words = c.Args().Slice()
		found, old, err = p.message(id)
	}
	if err != nil {
		return err
	}
	if !p.MayReply(found, old) {
		return fail(exitFailed, "claude-swarm send "+found.Mailbox+` "…" --thread `+old.Thread,
			"%s is in the mailbox of %s, not in yours", found.Entry.ID, found.Mailbox)
	}
	if old.From == dropbox.Swarm && old.Type == dropbox.Question && p.Me.Name == dropbox.Lead {
		return p.answerDaemon(c, old, words, wait)
	}
	if old.From == dropbox.Swarm {
		return fail(exitFailed, "claude-swarm inbox --done "+found.Entry.ID, "%s is from the daemon itself, which reads no mail", found.Entry.ID)
	}
	if err := p.MayAnswer(old); err != nil {
		next := "claude-swarm inbox --done " + found.Entry.ID
		if found.State == dropbox.Done {
			next = "claude-swarm history " + old.From
		}
		return &hintError{err: err, hint: next}
	}
	m, err := p.answerTo(old, c.String("type"))
	if err != nil {
		return err
	}
	if wait.set && !m.Type.WantsAnswer() {
		return usagef(`claude-swarm reply `+id+` "…" --type task --wait`, "a %s gets no answer, so there is nothing to wait for", m.Type)
	}
	if m.Priority, err = priorityOf(c); err != nil {
		return err
	}
	text := textSource{words: words, file: c.String("file"), stdin: c.App.Reader, as: "claude-swarm reply " + shellWord(id), most: p.longest(m.Type), readable: p.Readable}
	if m.Body, err = text.read(); err != nil {
		return err
	}
	if m.To, err = p.recipients(old.From, "claude-swarm send %s "+hintText(text)); err != nil {
		return err
	}
	if wait.set {
		if err := p.mayAwait(m.To, text.as); err != nil {
			return err
		}
	}
	if m.Attachments, err = p.attachments(c); err != nil {
		return err
	}
	sent, asks, err := p.sendAsking(m, wait)
	if err != nil {
		return p.refused(err, "")
	}
	if asks != nil {
		defer asks.End()
	}
	if p.saysHalted(c, m) {
		wait.set = false
	}
	if err := printSent(c, sent, wait.set); err != nil {
		return err
	}
	if found.State == dropbox.Done && p.Me.Turn == "" {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s has already been filed, perhaps answered; %s gets this anyway\n", found.Entry.ID, old.From)
	}
	if err := p.FileAnswered(found); err != nil {
		return fmt.Errorf("the answer has been sent; file %s: %w", found.Entry.ID, err)
	}
	p.sayIfUrgentWaits(c, m, sent)
	if wait.set {
		return p.await(c, sent, wait.span, asking{asks: asks})
	}
	p.sayHoldups(c, m.To...)
	return nil
}

// onlyQuestion returns the id of the question that a person answers with a text alone: the only
// one in the caller's mailbox. The argument unknown is the error for the text as an id; it is
// the result if no question is open.
func (p *post) onlyQuestion(text string, unknown error) (string, error) {
	list, err := view.Inbox(p.Client, p.Me.Name, false)
	if err != nil {
		return "", err
	}
	list = slices.DeleteFunc(list, func(m *view.Message) bool { return m.Type != dropbox.Question })
	switch len(list) {
	case 0:
		return "", unknown
	case 1:
		return list[0].ID, nil
	}
	return "", fail(exitUnknown, "claude-swarm reply "+list[0].ID+" "+shellWord(text), "%w; %s are open, so name the one that you answer", unknown, screen.Count(len(list), "question"))
}

// answerTo returns the answer to a message, without its text. The argument kind is the
// type of the answer, or "" for the default type.
func (p *post) answerTo(old *dropbox.Message, kind string) (*dropbox.Message, error) {
	m := p.Answer(old, dropbox.Type(kind))
	if !m.Type.Valid() {
		return nil, badWord("type", kind, typeWords())
	}
	return m, nil
}
