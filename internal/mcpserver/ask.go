package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// An asker asks an agent or the lead, and waits.
type asker struct {
	*client.Client
	mail mail
	crew crew
	turn ownTurn
}

func askerOf(c *call) asker { return asker{c.Client, mailOf(c), crewOf(c), ownTurnOf(c)} }

type askArguments struct {
	To        string   `json:"to" jsonschema:"one agent, its @TAG, or lead"`
	Text      string   `json:"text" jsonschema:"at most 8192 bytes"`
	Subject   string   `json:"subject,omitempty" jsonschema:"one line"`
	Priority  string   `json:"priority,omitempty" jsonschema:"normal if left out" enum:"urgent,normal,low"`
	Attach    []string `json:"attach,omitempty" jsonschema:"paths of files"`
	Timeout   int      `json:"timeout,omitempty" jsonschema:"seconds to wait; 300 if left out" minimum:"1" maximum:"3600"`
	OnTimeout string   `json:"on_timeout,omitempty" jsonschema:"without an answer: default (if left out) gives your default; deny means no; pause stops you after this turn until a person resumes you; abort ends this turn and gives its message up" enum:"default,deny,pause,abort"`
	Default   string   `json:"default,omitempty" jsonschema:"the answer when none comes, at most 1024 bytes"`
}

// maxDefault bounds the default answer of the asker, in bytes.
const maxDefault = 1024

// takeForNo is the note where no answer means no.
const takeForNo = " Take it for a no: do not do what you have asked for."

// An answer is the result of ask.
type answer struct {
	ID      string    `json:"id" jsonschema:"of the question"`
	Outcome string    `json:"outcome" jsonschema:"answered; refused; not waited, when nobody can answer now; or what happens without an answer: default, deny, pause, abort"`
	Text    string    `json:"text,omitempty" jsonschema:"the answer, or your default"`
	Answer  *received `json:"answer,omitempty"`
	Note    string    `json:"note,omitempty"`
}

// A received message is the answer to a question.
type received struct {
	ID       string   `json:"id"`
	From     string   `json:"from"`
	Proven   bool     `json:"proven" jsonschema:"whether it is from whom it says"`
	Type     string   `json:"type" jsonschema:"result, or question when something is asked back: answer that with reply"`
	Attached []string `json:"attached,omitempty" jsonschema:"paths of files"`
}

func (c asker) ask(ctx context.Context, in askArguments) (*answer, error) {
	to, err := c.Recipients(in.To)
	switch {
	case err != nil:
		return nil, err
	case len(to) != 1:
		return nil, fmt.Errorf("ask one at a time; %q are %d", in.To, len(to))
	case to[0] == c.Me.Name:
		return nil, errors.New("you cannot wait for yourself")
	case len(in.Default) > maxDefault:
		return nil, fmt.Errorf("default has %d bytes, %d at most; it comes back to you as it is, so a word will do", len(in.Default), maxDefault)
	}
	m := &dropbox.Message{To: to, Type: dropbox.Question, Subject: strings.Join(strings.Fields(in.Subject), " ")}
	if m.Priority, err = dropbox.ParsePriority(cmp.Or(in.Priority, dropbox.Normal.String())); err != nil {
		return nil, err
	}
	posted, err := c.mail.post(ctx, m, in.Text, in.Attach)
	if err != nil {
		return nil, err
	}
	a := &answer{ID: posted.Sent[0].ID}
	if to[0] != dropbox.Lead {
		st, err := c.crew.status(ctx)
		if err != nil {
			return nil, err
		}
		if why := cannotWork(st, to[0]); why != "" {
			a.Outcome, a.Text = notWaiting, in.Default
			a.Note = why + " The answer will come to you as a message, in a later turn."
			return a, nil
		}
	}
	return a, c.wait(ctx, a, dropbox.Delivery{ID: a.ID, To: to[0]}, in)
}

// wait waits for the answer, and fills it in.
func (c asker) wait(ctx context.Context, a *answer, sent dropbox.Delivery, in askArguments) error {
	patience := time.Duration(cmp.Or(in.Timeout, 300)) * time.Second
	wait, err := c.Wait([]dropbox.Delivery{sent})
	if err != nil {
		return err
	}
	defer wait.Close()
	defer c.Me.Asks(sent.ID, sent.To, patience)()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch got, err := wait.Next(limited); {
	case ctx.Err() != nil:
		return ctx.Err() // the client took the call back
	case errors.Is(err, context.DeadlineExceeded):
		return c.withoutAnswer(ctx, a, sent, in, patience)
	case err != nil:
		return err
	case got.None != nil:
		a.Outcome, a.Text = refused, in.Default
		a.Note = got.None.Error()
		return nil
	default:
		return c.receive(a, got.Answer)
	}
}

// receive puts an answer into the result, and files it, so that it does not come again as a
// message.
func (c asker) receive(a *answer, got *client.Answer) error {
	v := view.MessageIn(c.Client, c.Me.Name, dropbox.Waiting, got.Message)
	a.Outcome, a.Text = answered, strings.TrimRight(v.Body, "\n")
	a.Answer = &received{ID: v.ID, From: c.Called(v.From), Proven: v.Proven, Type: string(v.Type)}
	for _, file := range v.Attachments {
		a.Answer.Attached = append(a.Answer.Attached, file.Path)
	}
	if v.Type == dropbox.Question {
		return nil // it stays until it is answered
	}
	return got.File()
}

// withoutAnswer follows the caller's wish for a question without an answer in time. The
// question stays: a later answer is a message like any other.
func (c asker) withoutAnswer(ctx context.Context, a *answer, sent dropbox.Delivery, in askArguments, patience time.Duration) error {
	a.Outcome, a.Text = cmp.Or(in.OnTimeout, atDefault), in.Default
	none := fmt.Sprintf("%s has not answered within %s; an answer that comes later is a separate message.", sent.To, patience)
	switch a.Outcome {
	case atDefault:
		a.Note = none + " Decide yourself, and say in your summary what you assumed."
		if in.Default != "" {
			a.Note = none + " Go on with your default, and say so in your summary."
		}
		return nil
	case atDeny:
		a.Text, a.Note = "", none+takeForNo
		return nil
	}
	done, err := c.turn.stop(ctx, a.Outcome, sent.To, sent.ID)
	a.Note = none + " " + done
	return err
}

func (a *answer) readable() string {
	var t text
	switch {
	case a.Answer != nil:
		t.line("%s answers (%s, %s):", a.Answer.From, a.Answer.ID, a.Answer.Type)
		t.line("%s", a.Text)
		for _, path := range a.Answer.Attached {
			t.line("Attached: %s", path)
		}
		if a.Answer.Type == string(dropbox.Question) {
			t.line("That is a question: answer it with reply.")
		}
	default:
		t.line("No answer to %s (%s).", a.ID, a.Outcome)
		if a.Text != "" {
			t.line("Your default: %s", a.Text)
		}
	}
	t.remark(a.Note)
	return t.String()
}
