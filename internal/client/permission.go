package client

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
)

// topics is the mailbox in which [dropbox.Store.Find] finds published messages.
const topics = "topics"

// A PrivateError reports that an agent tried to read other agents' mail.
type PrivateError struct {
	Who  string // the agent
	What string // such as "the mailbox of lead"
}

func (e *PrivateError) Error() string {
	return e.What + " may not be read by " + e.Who + ": an agent sees only its own mail"
}

// MaySee checks that the caller may look into a mailbox. An agent may look into its own
// mailbox; a person may look into all mailboxes. The error is a [*PrivateError].
func (c *Client) MaySee(mailbox string) error {
	if c.Me.Name == dropbox.Lead || c.Me.Name == mailbox {
		return nil
	}
	return &PrivateError{c.Me.Name, "the mailbox of " + mailbox}
}

// MayReadMessage checks that the caller may read a message. An agent may read the messages in
// its mailbox, those that it sent, and all published ones. The error is a [*PrivateError].
func (c *Client) MayReadMessage(found dropbox.Found, m *dropbox.Message) error {
	if found.Mailbox == topics || m != nil && m.From == c.Me.Name || c.MaySee(found.Mailbox) == nil {
		return nil
	}
	return &PrivateError{c.Me.Name, "the message " + found.Entry.ID + " in the mailbox of " + found.Mailbox}
}

// A TakeBackError reports that an agent tried to take back another sender's message.
type TakeBackError struct {
	Who string // the agent
	ID  string // the id of the message
}

func (e *TakeBackError) Error() string {
	return e.ID + " is not for " + e.Who + " to take back: an agent may take back only what it sent itself"
}

// MayTakeBack checks that the caller may take a message back. An agent may take back what
// it sent; a person may take back any message. m is nil if the message cannot be read; then
// only a person may take it back. The error is a [*TakeBackError].
func (c *Client) MayTakeBack(found dropbox.Found, m *dropbox.Message) error {
	if c.Me.Name == dropbox.Lead || m != nil && m.From == c.Me.Name {
		return nil
	}
	return &TakeBackError{c.Me.Name, found.Entry.ID}
}
