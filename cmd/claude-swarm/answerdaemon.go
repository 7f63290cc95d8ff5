package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// daemonPatience is how long reply waits by default for the outcome of an answer to the daemon.
const daemonPatience = 10 * time.Second

// answerDaemon sends the answer to a question from the daemon. If a daemon is running,
// answerDaemon prints the outcome. The argument words is the text on the command line. It does not file the question, because the daemon does that.
func (p *post) answerDaemon(c *cli.Context, old *dropbox.Message, words []string, wait optionalSpan) error {
	for _, flag := range []string{"attach", "type"} {
		if c.IsSet(flag) {
			return usagef("claude-swarm read "+old.ID, "reply: %s is from the daemon, which accepts no --%s", old.ID, flag)
		}
	}
	q, err := journal.QuestionOf(p.Home, old.ID)
	if err != nil {
		return err
	}
	if q == nil {
		return fail(exitFailed, "claude-swarm inbox --done "+old.ID, "the daemon no longer has the question %s", old.ID)
	}
	if !q.Settled.IsZero() {
		return &hintError{err: &client.OverError{ID: old.ID, Agent: "the daemon", Why: q.Outcome}, hint: "claude-swarm inbox --done " + old.ID}
	}
	m := p.Answer(old, "")
	if m.Priority, err = priorityOf(c); err != nil {
		return err
	}
	text := textSource{words: words, file: c.String("file"), stdin: c.App.Reader, as: "claude-swarm reply " + old.ID, most: p.longest(m.Type), readable: p.Readable}
	if len(words) > 0 || c.IsSet("file") { // without any text, the error below lists the possible words
		if m.Body, err = text.read(); err != nil {
			return err
		}
	}
	if _, e := mail.AnswerTo(*q, p.Me.Name, m.Body); e != nil {
		return usagef("claude-swarm reply "+old.ID+" "+e.Nearest(), "reply: %s", e)
	}
	m.To = []string{dropbox.Swarm}
	sent, err := p.Send(m)
	if err != nil {
		return p.refused(err, "")
	}
	if listens, moved := daemonListens(p.dir); !listens || moved {
		err := printSent(c, sent, false)
		p.sayHoldups(c, m.To...)
		return err
	}
	if err := printSent(c, sent, true); err != nil {
		return err
	}
	return p.outcome(c, old, sent[0], wait)
}

// sayHowToAnswer prints the command that answers a question from the daemon or, if the
// question is settled, its outcome. It prints nothing for other messages.
func (p *post) sayHowToAnswer(w io.Writer, m *dropbox.Message) error {
	if m.From != dropbox.Swarm || m.Type != dropbox.Question {
		return nil
	}
	q, err := journal.QuestionOf(p.Home, m.ID)
	switch {
	case err != nil || q == nil:
		return err
	case !q.Settled.IsZero():
		_, err = fmt.Fprintf(w, "\nsettled: %s\n", screen.OneLine(q.Outcome))
	case len(q.Words) > 0:
		_, err = fmt.Fprintf(w, "\nanswer: claude-swarm reply %s %s\n", m.ID, q.Words[0].Word)
		if q.Text != "" && err == nil {
			_, err = fmt.Fprintf(w, "or: claude-swarm reply %s \"…\" (%s)\n", m.ID, q.Text)
		}
	}
	return err
}

// outcome waits for the outcome of an answer to the daemon and prints it.
func (p *post) outcome(c *cli.Context, old *dropbox.Message, sent dropbox.Delivery, wait optionalSpan) error {
	limit := daemonPatience
	if wait.set {
		limit = wait.span
	}
	ctx, cancel := within(c.Context, limit)
	defer cancel()
	search, err := p.Wait([]dropbox.Delivery{sent})
	if err != nil {
		return err
	}
	defer search.Close()
	got, err := search.Next(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fail(exitTimeout, "claude-swarm inbox", "the daemon has not handled %s within %s; the outcome will come to your mailbox", sent.ID, limit)
	case err != nil:
		return err
	case got.None == nil || got.None.Bounce == nil:
		return fail(exitFailed, "claude-swarm inbox", "the daemon did not answer %s", sent.ID)
	}
	told := got.None.Bounce
	out := c.App.Writer
	if c.Bool("json") {
		err = printJSON(out, answerView{V: 1, Sent: []string{sent.ID}, Answer: view.MessageIn(p.Client, p.Me.Name, dropbox.Waiting, told)})
	} else {
		_, err = fmt.Fprintln(out, strings.TrimRight(printable(out, told.Body), "\n"))
	}
	if err = errors.Join(err, printed(out)); err != nil {
		return err // the message with the outcome stays in the mailbox
	}
	if found, err := p.Store.Find(told.ID); err == nil {
		if err := p.FileAnswered(found); err != nil {
			return err
		}
	}
	if q, err := journal.QuestionOf(p.Home, old.ID); err == nil && q != nil && q.Settled.IsZero() {
		return fail(exitFailed, "claude-swarm read "+old.ID, "the question %s is still open", old.ID)
	}
	return nil
}
