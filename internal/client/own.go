package client

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
)

// topics is where [dropbox.Store.Find] finds what is published.
const topics = "topics"

// A PrivateError says that an agent asks for what is not its own.
type PrivateError struct {
	Who  string // the agent
	What string // such as "the mailbox of lead"
}

func (e *PrivateError) Error() string {
	return e.What + " is not for " + e.Who + ": an agent sees its own mail"
}

// MaySee checks that who is asking may look into a mailbox: an agent sees its own
// mailbox, a person all. The error is a [*PrivateError].
func (c *Client) MaySee(mailbox string) error {
	if c.Me.Name == dropbox.Lead || c.Me.Name == mailbox {
		return nil
	}
	return &PrivateError{c.Me.Name, "the mailbox of " + mailbox}
}

// MayReadMessage checks that who is asking may read a message: an agent reads what
// lies in its mailbox, what it sent, and what is published, which is for everybody.
// The error is a [*PrivateError].
func (c *Client) MayReadMessage(found dropbox.Found, m *dropbox.Message) error {
	if found.Mailbox == topics || m != nil && m.From == c.Me.Name || c.MaySee(found.Mailbox) == nil {
		return nil
	}
	return &PrivateError{c.Me.Name, "the message " + found.Entry.ID + " in the mailbox of " + found.Mailbox}
}

// A TakeBackError says that an agent takes back what somebody else sent.
type TakeBackError struct {
	Who string // the agent
	ID  string // of the message
}

func (e *TakeBackError) Error() string {
	return e.ID + " is not for " + e.Who + " to take back: an agent takes back what it sent itself"
}

// MayTakeBack checks that who is asking may take a message back: an agent takes back
// what it sent itself, a person all. m is nil where the message cannot be read, and then
// no agent has sent it. The error is a [*TakeBackError].
func (c *Client) MayTakeBack(found dropbox.Found, m *dropbox.Message) error {
	if c.Me.Name == dropbox.Lead || m != nil && m.From == c.Me.Name {
		return nil
	}
	return &TakeBackError{c.Me.Name, found.Entry.ID}
}
