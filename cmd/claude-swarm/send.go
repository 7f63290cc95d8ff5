package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func sendCommand() *cli.Command {
	wait := &optionalSpan{}
	return &cli.Command{
		Name:      "send",
		Category:  groupMail,
		Usage:     "leave a message in an agent's mailbox",
		ArgsUsage: "AGENT TEXT…",
		Description: `Leaves a message in the mailbox of AGENT, and prints its id as soon as it is
durably on disk. For several agents it prints one line for each: the id and
the name. This needs no daemon; the message waits for one.

AGENT is the name of an agent, several separated by commas, all, @TAG for
every agent with that tag, or lead, also called human, operator and supervisor.
The words of TEXT are joined with spaces into one message; - reads it from
standard input. Inside an agent's turn the sender is that agent; otherwise it is
the lead.

With --wait, the answer is printed and filed. With several agents, each answer
is printed when it comes, below the name of its agent. Meanwhile send shows what
keeps an agent from working (paused, stopped, limited, off, no daemon …). The
exit status is 7 if the agent did nothing because nothing was permitted.

With --answerers, TEXT is a question, and only an answer with a proven sender
counts. human: AGENT is lead, and a person answers. any: AGENT is an agent or
lead. first: AGENT is a comma-separated list of names, and the first
answer counts. --on-timeout decides what happens if nobody answers within
--wait=TIME.` +
			examples(
				`claude-swarm send coder "Do PERF-015" --wait`,
				`git diff | claude-swarm send reviewer - --subject "Please look at this"`,
				`claude-swarm send coder "See the log" --attach build.log --priority urgent`),
		Flags: append([]cli.Flag{
			&cli.GenericFlag{Name: "wait", Value: wait, Usage: "print the answer when it comes; --wait=10m waits no longer than that"},
			fileFlag(),
			attachFlag(),
			&cli.StringFlag{Name: "subject", Usage: "one line of `TEXT` that says what it is about"},
			&cli.StringFlag{Name: "type", Value: string(dropbox.Task), Usage: "`TYPE`: task, question, result, status, handoff or note; default task"},
			priorityFlag(),
			&cli.BoolFlag{Name: "now", Usage: "make it urgent: it reaches the running turn with its next tool result"},
			&cli.BoolFlag{Name: "interrupt", Usage: "make it urgent, and put the agent's current message back until this one is done"},
			&cli.StringSliceFlag{Name: "cc", Usage: "send `NAME` a copy, as a note; can be repeated"},
			&cli.StringFlag{Name: "thread", Usage: "continue the conversation `ID`"},
			&cli.StringFlag{Name: "reply-to", Usage: "mark it as the answer to the message `ID`"},
			&cli.StringSliceFlag{Name: "depends-on", Usage: "begin it when the message `ID` is done; can be repeated"},
			&cli.StringFlag{Name: "key", Usage: "deliver it only once: a second message with the same `KEY` within 7 days is not sent"},
			&cli.GenericFlag{Name: "expires", Value: new(whenValue), Usage: "do not begin it after `WHEN`: a span (2h) or a time (2026-11-21T18:00:00Z)"},
			jsonFlag(),
		}, questionFlags()...),
		Action: func(c *cli.Context) error { return send(c, *wait) },
	}
}

// send is the send verb's action.
func send(c *cli.Context, wait optionalSpan) error {
	if c.NArg() == 0 {
		return usagef(`claude-swarm send coder "what to do"`, "send: name the agent, and say what to do")
	}
	to := c.Args().First()
	text := textSource{
		words: c.Args().Tail(), file: c.String("file"), stdin: c.App.Reader,
		as: "claude-swarm send " + shellWord(to),
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()

	m, err := envelopeOf(c)
	if err != nil {
		return err
	}
	how, err := p.askingOf(c, m, wait, text.as)
	if err != nil {
		return err
	}
	text.most, text.readable = p.longest(m.Type), p.Readable
	if wait.set && !m.Type.WantsAnswer() {
		return usagef(text.as+` "…"`, "a %s gets no answer, so there is nothing to wait for", m.Type)
	}
	if m.To, err = p.recipients(to, "claude-swarm send %s "+hintText(text)); err != nil {
		return err
	}
	if err := p.answerable(to, m, how); err != nil {
		return err
	}
	if wait.set {
		if err := p.mayAwait(m.To, text.as); err != nil {
			return err
		}
	}
	for _, name := range c.StringSlice("cc") {
		cc, err := p.recipients(name, "claude-swarm send "+shellWord(to)+" "+hintText(text)+" --cc %s")
		if err != nil {
			return err
		}
		m.CC = append(m.CC, cc...)
	}
	if m.Body, err = text.read(); err != nil {
		return err
	}
	if m.Type == dropbox.Question {
		how.text = string(m.Body)
	}
	for _, at := range []struct{ flag, id string }{{"thread", c.String("thread")}, {"reply-to", c.String("reply-to")}} {
		if at.id == "" {
			continue
		}
		found, old, err := p.message(at.id)
		if err != nil {
			return err
		}
		if at.flag == "reply-to" {
			m.ReplyTo = found.Entry.ID
		}
		if m.Thread == "" {
			m.Thread = old.Thread
		}
		m.Trace = old.Trace
	}
	for _, id := range c.StringSlice("depends-on") {
		found, err := p.find(id)
		if err != nil {
			return err
		}
		m.DependsOn = append(m.DependsOn, found.Entry.ID)
	}
	if m.Attachments, err = p.attachments(c); err != nil {
		return err
	}
	sent, asks, err := p.sendAsking(m, wait)
	if err != nil {
		return p.refused(err, "")
	}
	if asks != nil {
		how.asks = asks
		defer asks.End()
	}
	if p.saysHalted(c, m) {
		wait.set = false
	}
	if err := printSent(c, sent, wait.set); err != nil {
		return err
	}
	if c.Bool("interrupt") {
		if err := p.interrupt(c, sent[:len(m.To)]); err != nil {
			return err
		}
	} else {
		p.sayIfUrgentWaits(c, m, sent[:len(m.To)])
	}
	if wait.set {
		return p.await(c, sent[:len(m.To)], wait.span, how) // copies get no answers, so only the answers to the originals are awaited
	}
	p.sayHoldups(c, append(m.To, m.CC...)...)
	return nil
}

// sendAsking sends a message. If the message is a question and the sender waits for the
// answer, sendAsking records the running turn as asking, and the caller must call
// asks.End. Otherwise, asks is nil.
func (p *post) sendAsking(m *dropbox.Message, wait optionalSpan) (sent []dropbox.Delivery, asks *client.Questioning, err error) {
	if !wait.set || m.Type != dropbox.Question {
		sent, err = p.Send(m)
		return sent, nil, err
	}
	asks = p.Asks(m, cmp.Or(wait.span, openEnd))
	if sent, err = p.SendNoted(m, asks.Note); err != nil {
		asks.End()
		return nil, nil, err
	}
	asks.Sent(sent[:len(m.To)])
	return sent, asks, nil
}

// openEnd is the maximum wait that is recorded for a question without a time limit.
const openEnd = 7 * 24 * time.Hour

// interrupt ends the running turns of the receivers, who then receive the urgent message.
// If no daemon is running, it returns nil, because no turn is running.
func (p *post) interrupt(c *cli.Context, sent []dropbox.Delivery) error {
	err := ask(c, p.project, func(client *control.Client, by string) error {
		for _, d := range sent {
			if d.To == dropbox.Lead {
				continue
			}
			cut, err := client.Interrupt(c.Context, d.To, by, d.ID)
			switch {
			case errors.Is(err, swarm.ErrNoTurn):
			case err != nil:
				return err
			case cut.State == dropbox.Done:
				fmt.Fprintf(c.App.ErrWriter, "%s: the turn of %s finished before it could be stopped, and counts as done\n", d.To, cut.Message)
			}
		}
		return nil
	})
	if errors.Is(err, control.ErrNoDaemon) && !lockHeld(p.home) {
		return nil
	}
	return err
}

// askingOf reads the flags of a question. The argument as is the command line without the
// text of the message.
func (p *post) askingOf(c *cli.Context, m *dropbox.Message, wait optionalSpan, as string) (asking, error) {
	u, err := p.unansweredOf(c, as+` "…" --wait=10m`)
	how := asking{unanswered: u}
	switch {
	case err != nil || u.answerers == "" && u.onTimeout == "":
		return how, err
	case !wait.set:
		return how, usagef(as+` "…" --wait=10m`, "--answerers and --on-timeout need --wait")
	case u.onTimeout != "" && wait.span == 0:
		return how, usagef(as+` "…" --wait=10m`, "--on-timeout needs a time: without one, send waits forever")
	case u.answerers == "":
		return how, nil
	case c.IsSet("type") && m.Type != dropbox.Question:
		return how, usagef(as+` "…" --wait --type question`, "--answerers is for a question, not for a %s", m.Type)
	case u.answerers == client.ByFirst && m.Key != "":
		return how, usagef(as+` "…" --wait --answerers first`, "a question to several agents already has a key: leave out --key")
	}
	m.Type = dropbox.Question
	return how, nil
}

// answerable checks the receivers of a question against --answerers and completes its
// envelope.
func (p *post) answerable(to string, m *dropbox.Message, how asking) error {
	switch {
	case how.answerers == client.ByHuman && !p.Leads(to):
		return usagef(`claude-swarm send lead "…" --wait --answerers human`, "--answerers human asks a person, and %q is not one", to)
	case how.answerers == client.ByHuman:
		m.To = []string{dropbox.Lead} // the person's mailbox, even if an agent is the lead
	case how.answerers == client.ByAny && len(m.To) > 1:
		return usagef(`claude-swarm send `+shellWord(to)+` "…" --wait --answerers first`, "--answerers any asks one agent; %q names %d", to, len(m.To))
	case how.answerers == client.ByFirst:
		m.Key = client.QuestionKey(client.ByFirst)
	}
	return nil
}
