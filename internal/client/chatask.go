package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// The values of answerers; see [mail.ByHuman].
const (
	ByHuman = mail.ByHuman
	ByAny   = mail.ByAny
	ByFirst = mail.ByFirst
)

// The values of on_timeout, which decides what an asker does if no answer arrives in
// time.
const (
	AtContinue = "continue" // it continues with its default
	AtPause    = "pause"    // it starts no new turn until somebody answers
	AtDeny     = "deny"     // it treats the missing answer as a no
	AtAbort    = "abort"    // it ends its turn and gives up on the message
)

// Denied is the answer that an asker with AtDeny assumes if nobody answers.
const Denied = "No."

// QuestionKey returns a key for a question; see [mail.QuestionKey].
func QuestionKey(answerers string) string { return mail.QuestionKey(answerers) }

// An Inquiry is a question to people on IRC.
type Inquiry struct {
	To        string // a channel or a nick; with ByFirst, several of them, comma-separated
	Text      string
	Answerers string // who may answer; if empty, ByHuman: a person whose messages the bridge accepts
	OnTimeout string // if empty, AtContinue
	Patience  time.Duration
}

// An Inquired is an Inquiry that was sent.
type Inquired struct {
	Sent []dropbox.Delivery
	At   []string // the channels and nicks

	chat     Chat
	question Inquiry
	waits    []*journal.Waiting
}

// Inquire asks people on IRC a question. Inside a turn, the daemon also tells people
// outside of IRC about the question, and notifies them later if nobody has answered.
// Outside a turn, the question also appears in the channel for alerts, followed later by
// a notice if nobody has answered.
func (c Chat) Inquire(q Inquiry) (*Inquired, error) {
	q.Answerers, q.OnTimeout = cmp.Or(q.Answerers, ByHuman), cmp.Or(q.OnTimeout, AtContinue)
	in := &Inquired{chat: c, question: q}
	to := []string{q.To}
	if q.Answerers == ByFirst {
		to = strings.FieldsFunc(q.To, func(r rune) bool { return r == ',' || r == ' ' })
	}
	for _, at := range to {
		if at, err := c.target(at); err != nil {
			return nil, err // checked before anybody is asked
		} else if slices.ContainsFunc(in.At, func(other string) bool { return strings.EqualFold(other, at) }) {
			return nil, fmt.Errorf("%s is named twice", at)
		} else {
			in.At = append(in.At, at)
		}
	}
	if len(in.At) == 0 {
		return nil, errors.New("no channel is named")
	}
	for _, at := range in.At {
		if err := in.ask(at); err != nil {
			in.end("")
			return nil, err
		}
	}
	return in, nil
}

// ask sends the question to one channel or one person.
func (in *Inquired) ask(at string) error {
	c, q := in.chat, in.question
	wait := &journal.Waiting{}
	m := &dropbox.Message{Type: dropbox.Question, Key: QuestionKey(q.Answerers)}
	sent, _, err := c.postNoted(m, bridge.Origin{}, at, q.Text, func(id, at string) {
		wait.End("") // closes the record of a failed attempt
		a := journal.Asked{ID: id, Of: at, Mailbox: ircbridge.Name, Text: string(m.Body)}
		if len(in.Sent) > 0 {
			a.Copy = in.Sent[0].ID
		}
		wait = c.client.Me.Asks(a, q.Patience)
	})
	if err != nil {
		wait.End("")
		return err
	}
	in.Sent, in.waits = append(in.Sent, sent), append(in.waits, wait)
	if wait.Noted() || at == c.channels.Alerts || len(in.Sent) > 1 {
		return nil
	}
	return c.alert("question", sent.ID, at, fmt.Sprintf("[QUESTION] %s needs input: %q", c.client.Called(c.client.Me.Name), strings.TrimSpace(q.Text)), " To answer: reply "+sent.ID+" …")
}

// end records that nobody is waiting for the answer anymore. Only the first such record
// about a question counts.
func (in *Inquired) end(why string) {
	for _, w := range in.waits {
		w.End(why)
	}
}

// alert sends a line to the channel for alerts. how, which may be empty, says how to answer.
func (c Chat) alert(what, id, at, text, how string) error {
	if c.channels.Alerts == "" {
		return nil
	}
	note := bridge.Origin{Channel: c.channels.Alerts, About: id, Announces: bridge.Alert, Calls: how != ""}
	m := &dropbox.Message{To: []string{ircbridge.Name}, Type: dropbox.Note, Key: "irc-" + what + "-" + id, Body: []byte(text + " (" + at + ")" + how + "\n"), Extra: note.Extra(ircbridge.Name)}
	_, err := c.client.Send(m)
	return err
}

// A PersonsAnswer is the answer to an Inquiry.
type PersonsAnswer struct {
	*dropbox.Message
	By   bridge.Origin // the person who answered on IRC; if the answer did not arrive through IRC, only Nick is set
	At   string        // the channel or nick where the question was asked
	Note string        // what else went wrong; "" if nothing did
}

// Await waits for the answer and files it. If no answer arrives in time, Await tells
// people and returns nil. The error is a [*NoAnswerError] if an answer is no longer
// possible.
func (in *Inquired) Await(ctx context.Context) (*PersonsAnswer, error) {
	defer in.end("")
	wait, err := in.chat.client.Wait(in.Sent)
	if err != nil {
		return nil, err
	}
	defer wait.Close()
	wait.Proven, wait.Agents = true, in.question.Answerers == ByAny
	limited, cancel := context.WithTimeout(ctx, in.question.Patience)
	defer cancel()
	note := ""
	for {
		switch got, err := wait.Next(limited); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, context.DeadlineExceeded):
			return nil, in.late()
		case err != nil:
			return nil, err
		case got.None != nil && len(wait.Pending) > 0: // another recipient may still answer
			note = strings.TrimSpace(note + " " + got.None.Error())
		case got.None != nil:
			return nil, got.None
		default:
			a := in.answered(got.Answer)
			a.Note = strings.TrimSpace(note + " " + a.Note)
			return a, got.Answer.File()
		}
	}
}

// answered records that the question needs no further answer, and tells the other
// recipients.
func (in *Inquired) answered(got *Answer) *PersonsAnswer {
	a := &PersonsAnswer{Message: got.Message}
	by, ok := bridge.OriginOf(got.Message, ircbridge.Name)
	if !ok || got.From != ircbridge.Name {
		by = bridge.Origin{Nick: in.chat.client.Called(got.From)}
	}
	a.By = by
	in.end(by.Nick + " has already answered")
	for i, d := range in.Sent {
		if d.ID == got.ReplyTo {
			a.At = in.At[i]
		}
	}
	for i, d := range in.Sent {
		if d.ID == got.ReplyTo {
			continue
		}
		text := fmt.Sprintf("%s has already answered %s, in %s. It needs no other answer.", by.Nick, d.ID, a.At)
		if _, _, err := in.chat.post(dropbox.Note, bridge.Origin{}, in.At[i], text); err != nil {
			a.Note = strings.TrimSpace(fmt.Sprintf("%s %s could not be told that the question has been answered: %v.", a.Note, in.At[i], err))
		}
	}
	return a
}

// late records that nobody answered in time.
func (in *Inquired) late() error {
	noted := false
	for _, w := range in.waits {
		noted = noted || w.Noted()
		w.Late(in.question.OnTimeout)
	}
	if noted {
		return nil
	}
	c, at := in.chat, strings.Join(in.At, ", ")
	return c.alert("timeout", in.Sent[0].ID, at, fmt.Sprintf("[TIMEOUT] %s got no answer to %q in %s within %s.", c.client.Called(c.client.Me.Name), strings.TrimSpace(in.question.Text), at, in.question.Patience), "")
}
