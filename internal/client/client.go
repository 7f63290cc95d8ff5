package client

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Project is what a client knows of a swarm: its folders, agents and rules.
type Project struct {
	Home   swarm.Home
	Store  *dropbox.Store // the caller closes it
	Agents []string       // in the order of the configuration
	Lead   string         // the agent that gets the lead's mail; "" is the person

	LeadName string   // what the person is called besides lead; "" is nothing
	CCLead   []string // agents of whose messages to others the lead gets a copy
	Rules    policy.Policy
	Chat     *Chat // nil: there is no IRC
	// Reading says of each agent which files it may send. An agent that is not in it may
	// send its own alone.
	Reading map[string]Reading
}

// lead is what the project knows of the lead.
func (p Project) lead() swarm.Plan {
	return swarm.Plan{Lead: p.Lead, LeadName: p.LeadName, CCLead: p.CCLead}
}

// Called is what people and agents call the owner of a mailbox, see [swarm.Plan.Called].
func (p Project) Called(mailbox string) string { return p.lead().Called(mailbox) }

// AllCalled is [Project.Called] for each of several mailboxes.
func (p Project) AllCalled(mailboxes []string) []string {
	var names []string
	for _, m := range mailboxes {
		names = append(names, p.Called(m))
	}
	return names
}

// A Client is a project and who is asking. It is for one goroutine.
type Client struct {
	Project
	Me     swarm.Identity
	Halted string // the conversation that the last message halted; "" for none
}

// Open finds out who is asking: inside the turn of an agent it is that agent, else
// the lead.
func Open(p Project, getenv func(string) string) (*Client, error) {
	me, err := swarm.WhoAmI(p.Home, getenv)
	if err != nil {
		return nil, err
	}
	return &Client{Project: p, Me: me}, nil
}

// Own is the mailbox of who is asking.
func (c *Client) Own() (*dropbox.Mailbox, error) { return c.Mailbox(c.Me.Name) }

// Mailbox opens the mailbox of an agent or the lead, and makes it where no daemon
// has done so yet.
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

// Message finds a message by its id or a part of it, wherever it lies, and reads it.
// The errors are those of [Client.Find].
func (c *Client) Message(id string) (dropbox.Found, *dropbox.Message, error) {
	found, err := c.Find(id)
	if err != nil {
		return found, nil, err
	}
	m, err := c.Store.Load(found)
	if err != nil {
		return found, nil, fmt.Errorf("message %s: %w", found.Entry.ID, err)
	}
	return found, m, nil
}

// Receipt reads what became of a message. The error is [dropbox.ErrNotFound] for
// one that had no turn.
func (c *Client) Receipt(found dropbox.Found) (*swarm.Receipt, error) {
	box, err := c.Mailbox(found.Mailbox)
	if err != nil {
		return nil, err
	}
	data, err := box.Receipt(found.Entry)
	if err != nil {
		return nil, err
	}
	return swarm.ParseReceipt(data)
}

// Reason reads why a dead letter was given up, or a message refused; "" when nobody
// noted it.
func (c *Client) Reason(found dropbox.Found) string {
	box, err := c.Mailbox(found.Mailbox)
	if err != nil {
		return ""
	}
	if found.State == dropbox.Refused {
		refusals, err := box.Refusals()
		i := slices.IndexFunc(refusals, func(r dropbox.Refusal) bool { return r.ID == found.Entry.ID })
		if err != nil || i < 0 {
			return ""
		}
		return refusals[i].Reason
	}
	letters, err := box.Dead()
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

// AttachmentPath is where the file lies, absolute.
func (c *Client) AttachmentPath(a dropbox.Attachment) string {
	return filepath.Join(c.Store.Dir(), filepath.FromSlash(a.Path))
}
