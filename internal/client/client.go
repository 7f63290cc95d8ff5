package client

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Client gives a caller access to a project. The caller is an agent inside its turn, or
// the lead. A Client is not safe for concurrent use.
type Client struct {
	Project
	Me     journal.Identity
	Halted string // the conversation that the most recent message halted; "" for none
}

// New gives a caller access to a project.
func New(p Project, me journal.Identity) *Client { return &Client{Project: p, Me: me} }

// Own returns the caller's mailbox.
func (c *Client) Own() (*dropbox.Mailbox, error) { return c.Mailbox(c.Me.Name) }

// Mailbox opens the mailbox of an agent or the lead, and creates it if no daemon has done
// so yet.
func (c *Client) Mailbox(name string) (*dropbox.Mailbox, error) {
	box, err := c.Store.Mailbox(name)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		if err = c.Store.MakeMailbox(name); err == nil {
			box, err = c.Store.Mailbox(name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mailbox of %s: %w", name, err)
	}
	return box, nil
}

// Receipt reads the receipt of a message. The error is [dropbox.ErrNotFound] if the
// message has not had a turn yet.
func (c *Client) Receipt(found dropbox.Found) (*journal.Receipt, error) {
	box, err := c.Mailbox(found.Mailbox)
	if err != nil {
		return nil, err
	}
	data, err := box.Receipt(found.Entry)
	if err != nil {
		return nil, err
	}
	return journal.ParseReceipt(data)
}

// Reason returns the recorded reason why a message became a dead letter or was refused. It
// returns "" if no reason is recorded.
func (c *Client) Reason(found dropbox.Found) string {
	box, err := c.Mailbox(found.Mailbox)
	if err != nil {
		return ""
	}
	if found.State == dropbox.Refused {
		refusals, err := box.Refusals().List()
		i := slices.IndexFunc(refusals, func(r dropbox.Refusal) bool { return r.ID == found.Entry.ID })
		if err != nil || i < 0 {
			return ""
		}
		return refusals[i].Reason
	}
	letters, err := box.DeadLetters().List()
	if err != nil {
		return ""
	}
	for _, l := range letters {
		if l.ID == found.Entry.ID {
			return l.Reason
		}
	}
	return ""
}

// AttachmentPath returns the absolute path of an attached file.
func (c *Client) AttachmentPath(a dropbox.Attachment) string {
	return filepath.Join(c.Store.Dir(), filepath.FromSlash(a.Path))
}
