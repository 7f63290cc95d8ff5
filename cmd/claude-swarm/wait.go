package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// An awaiting prints each answer to the sent messages as soon as the answer arrives or,
// with --json, prints all answers at the end. It then files the answer, so that the
// answer does not wake an agent.
type awaiting struct {
	*answerWait
	c       *cli.Context
	post    *post
	several bool // several answers are awaited, so each is printed with the name of its sender
	first   bool // one answer is enough
	asks    *client.Questioning
	answers []*client.Answer // printed as JSON at the end
}

// await waits for the first answer to each of the messages. A limit of 0 means no limit.
// For a single message, the result is:
//
//	a result or question   the body, exit status 0
//	a result of a turn     the body, and an error, exit status 7
//	that was permitted
//	nothing
//	the daemon's bounce    an error that says why, exit status 1
//	nothing in time        an error, exit status 5
//
// For several messages, it prints all answers and, at the end, an error if an answer is
// missing. The argument how specifies whether one answer is enough and what happens if no
// answer arrives in time.
func (p *post) await(c *cli.Context, sent []dropbox.Delivery, limit time.Duration, how asking) error {
	ctx, cancel := within(c.Context, limit)
	defer cancel()
	for _, d := range sent {
		if d.To == dropbox.Lead && p.Me.Name == dropbox.Lead {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: no agent answers %s: it is in the lead's mailbox; this command waits until a person replies\n  try: claude-swarm reply %s \"…\"   (in another terminal)\n", d.ID, d.ID)
		}
	}
	search, err := p.newAnswerWait(c, sent)
	if err != nil {
		return err
	}
	defer search.close()
	search.Proven = how.answerers != ""
	w := &awaiting{answerWait: search, c: c, post: p, several: len(sent) > 1, first: how.answerers == client.ByFirst, asks: how.asks}
	err = w.all(ctx)
	if c.Bool("json") && (w.several || len(w.answers) > 0) {
		if err := w.printAnswers(sent); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		if w.asks != nil {
			w.asks.Late(cmp.Or(how.onTimeout, client.AtContinue))
		}
		how.asked(how.text, limit, w.Pending, func(d dropbox.Delivery) string { return d.To })
		return how.end(c, fail(exitTimeout, "claude-swarm trace "+w.Pending[0].ID, "no answer to %s within %s; a late answer will come to the mailbox of %s", w.missing(), limit, p.Me.Name))
	case errors.Is(err, context.Canceled) && printed(c.App.Writer) == nil:
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: stopped waiting; the answer to %s will come to the mailbox of %s\n", w.missing(), p.Me.Name)
	}
	return err
}

// within returns a context with a timeout; 0 means no limit.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// An asking contains the options for a message whose sender waits for the answer.
type asking struct {
	unanswered
	text string              // text of the question; "" for other messages
	asks *client.Questioning // for a question; nil for other messages
}

// mayAwait returns an error if an agent's turn would wait for an answer from the agent
// itself, which can answer only after that turn.
func (p *post) mayAwait(to []string, as string) error {
	if p.Me.Turn == "" || !slices.Contains(to, p.Me.Name) {
		return nil
	}
	return usagef(as+` "…"   (without --wait)`, "%s would wait for itself: its mail comes after this turn", p.Me.Name)
}

// all waits until no message is pending or, if one answer is enough, until the first answer
// arrives. For several messages, it prints each outcome as soon as it arrives, and continues to
// wait for the others.
func (w *awaiting) all(ctx context.Context) error {
	sent, failed, denied := len(w.Pending), 0, 0
	for len(w.Pending) > 0 {
		got, err := w.next(ctx)
		w.show.clear()
		if err == nil && got.Answer != nil {
			err = w.handle(got.Answer)
			if err == nil && w.first {
				return w.answeredFirst(got.Answer)
			}
		}
		switch {
		case err != nil:
			return err
		case got.None != nil && (!w.several || w.first && len(w.Pending) == 0):
			return noAnswer(got.None)
		case got.None != nil:
			report(w.c.App.ErrWriter, noAnswer(got.None))
			failed++
		case got.Answer.Outcome != view.OutcomeRefused:
		case !w.several:
			return notPermitted(got.Answer)
		default:
			report(w.c.App.ErrWriter, notPermitted(got.Answer))
			failed++
			denied++
		}
	}
	switch {
	case failed == 0:
	case denied == failed:
		return fail(exitDenied, "claude-swarm history", "%d of %s not done", failed, screen.Count(sent, "message"))
	default:
		return fail(exitFailed, "claude-swarm dead list", "%d of %s not done", failed, screen.Count(sent, "message"))
	}
	return nil
}

// answeredFirst tells the other receivers of the question that one of them has answered
// it.
func (w *awaiting) answeredFirst(got *client.Answer) error {
	if why := w.asks.Answered(got); why != "" {
		fmt.Fprintf(w.c.App.ErrWriter, "claude-swarm: %s\n", why)
	}
	return nil
}

// missing returns the ids of the messages without an answer, with their receivers if
// several messages were sent.
func (w *awaiting) missing() string {
	var names []string
	for _, d := range w.Pending {
		name := d.ID
		if w.several {
			name += " (" + d.To + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// handle prints an answer and files it. With --json, it only stores the answer, which is
// printed and filed at the end.
func (w *awaiting) handle(a *client.Answer) error {
	if w.c.Bool("json") {
		w.answers = append(w.answers, a)
		return nil
	}
	out := w.c.App.Writer
	if w.several {
		fmt.Fprintf(out, "\n%s:\n", paletteOf(out).paint(a.From, agentColour(a.From)))
	}
	fmt.Fprintln(out, strings.TrimRight(printable(out, a.Body), "\n"))
	for _, file := range a.Attachments {
		fmt.Fprintf(out, "attached: %s (%s)\n", w.post.AttachmentPath(file), byteCount(int(file.Size)))
	}
	return w.file(a)
}

// file files a printed answer. An answer that could not be printed stays in the mailbox. An
// answer that is a question also stays there, because the caller must reply to it.
func (w *awaiting) file(a *client.Answer) error {
	if err := printed(w.c.App.Writer); err != nil {
		return err
	}
	if a.Type == dropbox.Question {
		fmt.Fprintf(w.c.App.ErrWriter, "claude-swarm: %s is waiting for your answer\n  try: claude-swarm reply %s \"…\"\n", a.From, a.ID)
		return nil
	}
	return a.File()
}

// An answerView is the output of --wait --json for one message. An answersView is the output
// for several messages.
type answerView struct {
	V      int           `json:"v"`
	Sent   []string      `json:"sent"`
	Answer *view.Message `json:"answer"`
}

type answersView struct {
	V       int             `json:"v"`
	Sent    []string        `json:"sent"`
	Answers []*view.Message `json:"answers"` // in the order in which they arrived
}

func (w *awaiting) printAnswers(sent []dropbox.Delivery) error {
	views := []*view.Message{}
	for _, a := range w.answers {
		views = append(views, view.MessageIn(w.post.Client, w.post.Me.Name, dropbox.Waiting, a.Message))
	}
	var all any = answersView{V: 1, Sent: ids(sent), Answers: views}
	if !w.several {
		all = answerView{V: 1, Sent: ids(sent), Answer: views[0]}
	}
	if err := printJSON(w.c.App.Writer, all); err != nil {
		return err
	}
	for _, a := range w.answers {
		if err := w.file(a); err != nil {
			return err
		}
	}
	return nil
}

func ids(sent []dropbox.Delivery) []string {
	var list []string
	for _, d := range sent {
		list = append(list, d.ID)
	}
	return list
}
