package client

import (
	"cmp"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Answer makes the envelope of an answer to a message. kind is its type; "" is the usual one.
func (c *Client) Answer(old *dropbox.Message, kind dropbox.Type) *dropbox.Message {
	return &dropbox.Message{
		Type:    cmp.Or(kind, answerType(old.Type, c.Me.Name == dropbox.Lead)),
		ReplyTo: old.ID, Thread: cmp.Or(old.Thread, old.ID), Trace: cmp.Or(old.Trace, old.ID),
		Subject: AnswerSubject(old.Subject),
	}
}

// answerType decides the type of an answer. The answer to a task or a question is a result. Any
// other answer is a task from a person; from a program it is a note, since programs that wake
// each other would never end.
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

// FileAnswered files a message that is answered. The daemon files the message of a turn when the
// turn ends.
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
