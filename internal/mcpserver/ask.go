package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// An asker asks an agent or the lead, and waits for the answer.
type asker struct {
	*client.Client
	mail mail
	crew crew
	turn ownTurn
}

func askerOf(c *call) asker { return asker{c.Client, mailOf(c), crewOf(c), ownTurnOf(c)} }

type askArguments struct {
	To        string   `json:"to" jsonschema:"one agent, its @TAG, or lead"`
	Answerers string   `json:"answerers,omitempty" jsonschema:"whose answer counts: any (the default), whom you ask or a person; human, a person; first, the first of several in to" enum:"any,human,first"`
	Text      string   `json:"text" jsonschema:"at most 8192 bytes"`
	Subject   string   `json:"subject,omitempty" jsonschema:"one line"`
	Priority  string   `json:"priority,omitempty" jsonschema:"default: normal" enum:"urgent,normal,low"`
	Attach    []string `json:"attach,omitempty" jsonschema:"paths of files"`
	Timeout   int      `json:"timeout,omitempty" jsonschema:"seconds to wait; default: 300" minimum:"1" maximum:"3600"`
	OnTimeout string   `json:"on_timeout,omitempty" jsonschema:"without an answer: continue (the default) with your default; pause after this turn until one comes; deny, treat it as a no; abort this turn and give up its message" enum:"continue,pause,deny,abort"`
	Default   string   `json:"default,omitempty" jsonschema:"the answer if none comes, at most 1024 bytes"`
}

// patience is how long the caller waits for an answer.
func (in askArguments) patience() time.Duration {
	return time.Duration(cmp.Or(in.Timeout, 300)) * time.Second
}

// maxDefault is the maximum length of the asker's default answer, in bytes.
const maxDefault = 1024

// takeForNo is appended to a result's note if a missing answer counts as "no".
const takeForNo = " Treat that as a no: do not do what you asked for."

// An answer is the result of ask.
type answer struct {
	ID      string    `json:"id" jsonschema:"of the question"`
	Outcome string    `json:"outcome" jsonschema:"answered; refused; not waited, when nobody can answer now; or what happens without an answer: continue, pause, deny, abort"`
	Text    string    `json:"text,omitempty" jsonschema:"the answer, your default, or No."`
	Answer  *received `json:"answer,omitempty"`
	Note    string    `json:"note,omitempty"`
}

// A received is an answer to a question.
type received struct {
	ID       string   `json:"id"`
	From     string   `json:"from"`
	Proven   bool     `json:"proven" jsonschema:"whether the sender is proven"`
	Type     string   `json:"type" jsonschema:"result, or question if you are asked something in return: answer it with reply"`
	Attached []string `json:"attached,omitempty" jsonschema:"paths of files"`
}

func (c asker) ask(ctx context.Context, in askArguments) (*answer, error) {
	to, err := c.asked(in)
	switch {
	case err != nil:
		return nil, err
	case len(in.Default) > maxDefault:
		return nil, fmt.Errorf("default has %d bytes, but the maximum is %d; it comes back to you unchanged, so a word is enough", len(in.Default), maxDefault)
	}
	m := &dropbox.Message{To: to, Type: dropbox.Question, Subject: strings.Join(strings.Fields(in.Subject), " ")}
	if len(to) > 1 {
		m.Key = client.QuestionKey(client.ByFirst)
	}
	if m.Priority, err = dropbox.ParsePriority(cmp.Or(in.Priority, dropbox.Normal.String())); err != nil {
		return nil, err
	}
	asks := c.Asks(m, in.patience())
	defer asks.End()
	posted, err := c.mail.postNoted(ctx, m, in.Text, in.Attach, asks.Note)
	if err != nil {
		return nil, err
	}
	var sent []dropbox.Delivery
	for _, one := range posted.Sent[:len(to)] {
		sent = append(sent, dropbox.Delivery{ID: one.ID, To: one.To})
	}
	asks.Sent(sent)
	a := &answer{ID: sent[0].ID}
	why, err := c.nobodyCan(ctx, to)
	if err != nil {
		return nil, err
	} else if why != "" {
		a.Outcome, a.Text = notWaiting, in.Default
		a.Note = why + " The answer will come to you as a message, in a later turn."
		return a, nil
	}
	return a, c.wait(ctx, a, sent, asks, in)
}

// asked returns the mailboxes to which a question is sent. If the lead is among them, its
// mailbox comes first.
func (c asker) asked(in askArguments) ([]string, error) {
	to, err := c.Recipients(in.To)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(to, c.Me.Name):
		return nil, errors.New("you cannot wait for yourself")
	case in.Answerers == client.ByHuman:
		if !c.Leads(in.To) {
			return nil, fmt.Errorf("answerers: human asks a person, and %q is not one: set to: lead", in.To)
		}
		return []string{dropbox.Lead}, nil // even if an agent is the lead
	case len(to) != 1 && in.Answerers != client.ByFirst:
		return nil, fmt.Errorf("ask one agent at a time, or set answerers: first; %q names %d agents", in.To, len(to))
	}
	if i := slices.Index(to, dropbox.Lead); i > 0 {
		to[0], to[i] = to[i], to[0]
	}
	return to, nil
}

// nobodyCan returns the reason why none of a question's recipients can answer now, or ""
// if at least one of them can. The lead is always considered able to answer.
func (c asker) nobodyCan(ctx context.Context, to []string) (string, error) {
	if slices.Contains(to, dropbox.Lead) {
		return "", nil
	}
	st, err := c.crew.status(ctx)
	if err != nil {
		return "", err
	}
	first := ""
	for _, name := range to {
		why := cannotWork(st, name)
		if why == "" {
			return "", nil
		}
		first = cmp.Or(first, why)
	}
	return first, nil
}

// wait waits for the answer and stores it in a.
func (c asker) wait(ctx context.Context, a *answer, sent []dropbox.Delivery, asks *client.Questioning, in askArguments) error {
	wait, err := c.Wait(sent)
	if err != nil {
		return err
	}
	defer wait.Close()
	wait.Proven = true
	limited, cancel := context.WithTimeout(ctx, in.patience())
	defer cancel()
	for {
		got, err := wait.Next(limited)
		switch {
		case ctx.Err() != nil:
			return ctx.Err() // the client cancelled the call
		case errors.Is(err, context.DeadlineExceeded):
			asks.Late(cmp.Or(in.OnTimeout, client.AtContinue))
			return c.withoutAnswer(ctx, a, sent, in)
		case err != nil:
			return err
		case got.None != nil && len(wait.Pending) > 0:
			a.Note = strings.TrimSpace(a.Note + " " + got.None.Error()) // the other recipients may still answer
			continue
		case got.None != nil:
			a.Outcome, a.Text = refused, in.Default
			a.Note = strings.TrimSpace(a.Note + " " + got.None.Error())
			return nil
		}
		a.ID = got.Answer.ReplyTo
		if err := c.receive(a, got.Answer); err != nil {
			return err
		}
		if why := asks.Answered(got.Answer); why != "" {
			a.Note = strings.TrimSpace(a.Note + " " + why)
		}
		return nil
	}
}

// receive stores an answer in the result and files it, so the answer is not delivered
// again as a message.
func (c asker) receive(a *answer, got *client.Answer) error {
	v := view.MessageIn(c.Client, c.Me.Name, dropbox.Waiting, got.Message)
	a.Outcome, a.Text = answered, strings.TrimRight(v.Body, "\n")
	a.Answer = &received{ID: v.ID, From: c.Called(v.From), Proven: v.Proven, Type: string(v.Type)}
	for _, file := range v.Attachments {
		a.Answer.Attached = append(a.Answer.Attached, file.Path)
	}
	if v.Type == dropbox.Question {
		return nil // a question stays in the mailbox until it is answered
	}
	return got.File()
}

// withoutAnswer handles the timeout of a question as the caller specified. The question
// stays open: a later answer is delivered as an ordinary message.
func (c asker) withoutAnswer(ctx context.Context, a *answer, sent []dropbox.Delivery, in askArguments) error {
	l := client.Lack{Text: in.Text, Patience: in.patience()}
	var of []string
	for _, d := range sent {
		l.Asked = append(l.Asked, swarm.PauseQuestion{ID: d.ID, Of: d.To})
		of = append(of, d.To)
	}
	a.Outcome, a.Text = cmp.Or(in.OnTimeout, client.AtContinue), in.Default
	none := fmt.Sprintf("Nobody answered within %s (asked: %s); a later answer will be a separate message.", in.patience(), strings.Join(of, ", "))
	switch a.Outcome {
	case client.AtContinue:
		a.Note = none + " Decide yourself, and say in your summary what you assumed."
		if in.Default != "" {
			a.Note = none + " Continue with your default, and say so in your summary."
		}
		return nil
	case client.AtDeny:
		a.Text, a.Note = client.Denied, none+takeForNo
		return nil
	}
	done, err := c.turn.stop(ctx, a.Outcome, l)
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
		switch {
		case a.Outcome == client.AtDeny:
			t.line("%s", a.Text)
		case a.Text != "":
			t.line("Your default: %s", a.Text)
		}
	}
	t.remark(a.Note)
	return t.String()
}
