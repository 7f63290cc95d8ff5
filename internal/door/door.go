package door

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Place is a swarm as somebody finds it who comes in.
type Place struct {
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

// lead is what the place knows of the lead.
func (p Place) lead() swarm.Plan {
	return swarm.Plan{Lead: p.Lead, LeadName: p.LeadName, CCLead: p.CCLead}
}

// Called is what people and agents call the owner of a mailbox, see [swarm.Plan.Called].
func (p Place) Called(mailbox string) string { return p.lead().Called(mailbox) }

// AllCalled is [Place.Called] for each of several mailboxes.
func (p Place) AllCalled(mailboxes []string) []string {
	var names []string
	for _, m := range mailboxes {
		names = append(names, p.Called(m))
	}
	return names
}

// A Door is a place and who is asking. It is for one goroutine.
type Door struct {
	Place
	Me     swarm.Identity
	Halted string // the conversation that the last message halted; "" for none
}

// Open finds out who is asking: inside the turn of an agent it is that agent, else
// the lead.
func Open(p Place, getenv func(string) string) (*Door, error) {
	me, err := swarm.WhoAmI(p.Home, getenv)
	if err != nil {
		return nil, err
	}
	return &Door{Place: p, Me: me}, nil
}

// Own is the mailbox of who is asking.
func (d *Door) Own() (*dropbox.Mailbox, error) { return d.Mailbox(d.Me.Name) }

// Mailbox opens the mailbox of an agent or the lead, and makes it where no daemon
// has done so yet.
func (d *Door) Mailbox(name string) (*dropbox.Mailbox, error) {
	box, err := d.Store.Mailbox(name)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		if err = d.Store.MakeMailbox(name); err == nil {
			box, err = d.Store.Mailbox(name)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("mailbox of %s: %w", name, err)
	}
	return box, nil
}

// Message finds a message by its id or a part of it, wherever it lies, and reads it.
// The errors are those of [Door.Find].
func (d *Door) Message(id string) (dropbox.Found, *dropbox.Message, error) {
	found, err := d.Find(id)
	if err != nil {
		return found, nil, err
	}
	m, err := d.Store.Load(found)
	if err != nil {
		return found, nil, fmt.Errorf("message %s: %w", found.Entry.ID, err)
	}
	return found, m, nil
}

// Receipt reads what became of a message. The error is [dropbox.ErrNotFound] for
// one that had no turn.
func (d *Door) Receipt(found dropbox.Found) (*swarm.Receipt, error) {
	box, err := d.Mailbox(found.Mailbox)
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
func (d *Door) Reason(found dropbox.Found) string {
	box, err := d.Mailbox(found.Mailbox)
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
func (d *Door) AttachmentPath(a dropbox.Attachment) string {
	return filepath.Join(d.Store.Dir(), filepath.FromSlash(a.Path))
}
