package client

import (
	"cmp"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Answer makes the envelope of an answer to a message. kind is its type; "" is
// what is usual.
func (c *Client) Answer(old *dropbox.Message, kind dropbox.Type) *dropbox.Message {
	return &dropbox.Message{
		Type:    cmp.Or(kind, answerType(old.Type, c.Me.Name == dropbox.Lead)),
		ReplyTo: old.ID, Thread: cmp.Or(old.Thread, old.ID), Trace: cmp.Or(old.Trace, old.ID),
		Subject: AnswerSubject(old.Subject),
	}
}

// answerType decides what an answer is. A result is owed for a task and a
// question. What a person says to anything else is something to be done; what a
// program says must not wake another one, or they would never end.
func answerType(to dropbox.Type, byLead bool) dropbox.Type {
	switch {
	case to.WantsAnswer():
		return dropbox.Result
	case byLead:
		return dropbox.Task
	}
	return dropbox.Note
}

// maxSubject is the longest subject that gets a "Re: " before it, in bytes.
const maxSubject = 200

// AnswerSubject is the subject of an answer to a message with this one.
func AnswerSubject(old string) string {
	if old == "" || strings.HasPrefix(old, "Re: ") || len(old) > maxSubject {
		return old
	}
	return "Re: " + old
}

// FileAnswered files the message that was answered. What a turn works on is filed
// by the daemon when the turn ends.
func (c *Client) FileAnswered(found dropbox.Found) error {
	if found.State != dropbox.Waiting && (found.State != dropbox.Claimed || c.Me.Name != dropbox.Lead) {
		return nil
	}
	box, err := c.Own()
	if err != nil {
		return err
	}
	return box.File(found.Entry)
}
