package client

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// Answer returns an answer to old that has an envelope but no body. kind is the type of
// the answer; "" means the default type.
func (c *Client) Answer(old *dropbox.Message, kind dropbox.Type) *dropbox.Message {
	return &dropbox.Message{
		Type:    cmp.Or(kind, answerType(old.Type, c.Me.Name == dropbox.Lead)),
		ReplyTo: old.ID, Thread: cmp.Or(old.Thread, old.ID), Trace: cmp.Or(old.Trace, old.ID),
		Subject: AnswerSubject(old.Subject),
	}
}

// An OverError reports that the asker is no longer waiting for the answer to a question.
// A client that asks for permission waits only during its turn. If the question went to
// several recipients, another one may have answered first.
type OverError struct {
	ID, Agent string
	Why       string
}

func (e *OverError) Error() string {
	return fmt.Sprintf("%s is no longer waiting for the answer to %s: %s", e.Agent, e.ID, e.Why)
}

// MayAnswer checks that a message still needs an answer. The error is an [*OverError].
func (c *Client) MayAnswer(old *dropbox.Message) error {
	if why := mail.WhyOver(c.Home, old); why != "" {
		return &OverError{ID: old.ID, Agent: old.From, Why: why}
	}
	return nil
}

// MayReply reports whether the caller may answer a message, given its mailbox and state.
// The caller may answer a message in the caller's own mailbox, and a question to people in
// a bridge's mailbox. The bridge accepts a person's answer, and an agent's answer if the
// asker allows that.
func (c *Client) MayReply(found dropbox.Found, old *dropbox.Message) bool {
	if found.Mailbox == c.Me.Name {
		return true
	}
	return dropbox.IsBridge(found.Mailbox) && old.Type == dropbox.Question && (c.Me.Name == dropbox.Lead || mail.TakesAgents(old)) &&
		(found.State == dropbox.Waiting || found.State == dropbox.Claimed)
}

// answerType returns the type of an answer. The answer to a task or a question is a result.
// Any other answer is a task if a person sends it. If a program sends it, it is a note, so
// that programs do not wake each other endlessly.
func answerType(to dropbox.Type, byLead bool) dropbox.Type {
	switch {
	case to.WantsAnswer():
		return dropbox.Result
	case byLead:
		return dropbox.Task
	}
	return dropbox.Note
}

// maxSubject is the maximum length, in bytes, of a subject that gets the prefix "Re: ".
const maxSubject = 200

// AnswerSubject returns the subject of an answer to a message whose subject is old.
func AnswerSubject(old string) string {
	if old == "" || strings.HasPrefix(old, "Re: ") || len(old) > maxSubject {
		return old
	}
	return "Re: " + old
}

// FileAnswered files a message that has been answered. The daemon files the message of a
// turn when the turn ends.
func (c *Client) FileAnswered(found dropbox.Found) error {
	if found.Mailbox != c.Me.Name {
		return nil // the bridge files its own messages
	}
	if found.State != dropbox.Waiting && (found.State != dropbox.Claimed || c.Me.Name != dropbox.Lead) {
		return nil
	}
	box, err := c.Own()
	if err != nil {
		return err
	}
	return box.File(found.Entry)
}
