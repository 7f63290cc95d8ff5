package mail

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Dependencies knows which messages have come to a good end, for the messages that depend on
// them. It is safe for concurrent use.
type Dependencies struct {
	store *dropbox.Store

	mu      sync.Mutex
	good    map[string]bool   // by id: messages that came to a good end, which is final
	in      map[string]string // by id: the mailbox in which the message was not finished
	version uint64            // of unfinished
	// unfinished contains the ids of the unfinished messages, by mailbox.
	unfinished map[string]map[string]bool
}

// maxGood is the maximum number of ids in Dependencies.good.
const maxGood = 10_000

// NewDependencies returns the dependencies in a store.
func NewDependencies(store *dropbox.Store) *Dependencies { return &Dependencies{store: store} }

// A Dependency is a message that has not come to a good end, although another one depends on it.
type Dependency struct {
	ID   string
	Lost string // why it will not come to a good end without a person; "" if it may
	Next string // for a lost one, the command that may help
}

// Text returns the id of the dependency and, if it is lost, why, and the command that may help.
func (d *Dependency) Text() string {
	text := d.ID
	if d.Lost != "" {
		text += ", which " + d.Lost
	}
	if d.Next != "" {
		text += "; next: " + d.Next
	}
	return text
}

// Of returns the first lost dependency of a message. If no dependency is lost, it returns the
// first one that is open, or nil if all have come to a good end. version tells whether mail may
// have moved since the last call.
func (d *Dependencies) Of(m *dropbox.Message, version uint64) (*Dependency, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.version != version || d.unfinished == nil {
		d.version, d.unfinished = version, map[string]map[string]bool{}
	}
	var open *Dependency
	for _, id := range m.DependsOn {
		dep, err := d.one(id)
		if err != nil {
			return nil, err
		}
		if dep != nil && dep.Lost != "" {
			return dep, nil
		}
		open = cmp.Or(open, dep)
	}
	return open, nil
}

// one returns a dependency, or nil if it has come to a good end. The caller holds the mutex.
func (d *Dependencies) one(id string) (*Dependency, error) {
	if d.good[id] {
		return nil, nil
	}
	if box, known := d.in[id]; known {
		there, err := d.isUnfinished(box, id)
		if there || err != nil {
			return &Dependency{ID: id}, err
		}
		delete(d.in, id)
	}
	found, err := d.store.Find(id)
	if errors.Is(err, dropbox.ErrNotFound) {
		return &Dependency{ID: id, Lost: "no longer exists"}, nil
	} else if err != nil {
		return nil, err
	}
	if found.State == dropbox.Waiting || found.State == dropbox.Claimed {
		if d.in == nil {
			d.in = map[string]string{}
		}
		d.in[id] = found.Mailbox
		return &Dependency{ID: id}, nil
	}
	outcome := ""
	if found.State == dropbox.Done {
		if outcome, err = d.outcome(found); err != nil {
			return nil, err
		}
	}
	lost, next := BadEnd(found.Entry.ID, found.State, outcome)
	if lost != "" {
		return &Dependency{ID: id, Lost: lost, Next: next}, nil
	}
	if d.good == nil || len(d.good) >= maxGood {
		d.good = map[string]bool{}
	}
	d.good[id] = true
	return nil, nil
}

// BadEnd returns why the end of a message is not a good one for the messages that depend on it,
// and the command that may help; or "" for a good end. outcome is that of the receipt of a
// message that is done.
func BadEnd(id string, state dropbox.State, outcome string) (why, next string) {
	switch {
	case state == dropbox.Dead:
		return "was given up or taken back", "claude-swarm dead retry " + id
	case state == dropbox.Refused:
		return "was refused by a rule", "claude-swarm refused retry " + id
	case outcome == journal.OutcomeRefused:
		return "ended without work, because nothing was permitted", "claude-swarm trace " + id
	}
	return "", ""
}

// outcome returns the outcome in the receipt of a message that is done, or "" without a receipt,
// as for a message that a person has read.
func (d *Dependencies) outcome(found dropbox.Found) (string, error) {
	box := d.store.Topics()
	if found.Mailbox != box.Name() {
		var err error
		if box, err = d.store.Mailbox(found.Mailbox); err != nil {
			return "", err
		}
	}
	if has, err := box.HasReceipt(found.Entry); !has || err != nil {
		return "", err
	}
	data, err := box.Receipt(found.Entry)
	if err != nil {
		return "", err
	}
	r, err := journal.ParseReceipt(data)
	if err != nil {
		return "", fmt.Errorf("receipt of %s: %w", found.Entry.ID, err)
	}
	return r.Outcome, nil
}

// isUnfinished reports whether a message is waiting or claimed in a mailbox. The caller holds the
// mutex.
func (d *Dependencies) isUnfinished(mailbox, id string) (bool, error) {
	if d.unfinished[mailbox] == nil {
		ids := map[string]bool{}
		box := d.store.Topics()
		if mailbox != box.Name() {
			var err error
			if box, err = d.store.Mailbox(mailbox); errors.Is(err, dropbox.ErrNoMailbox) {
				return false, nil
			} else if err != nil {
				return false, err
			}
		}
		for _, list := range []func() ([]dropbox.Entry, error){box.Peek, box.Claimed} { // in this order, so that a claim is not missed
			entries, err := list()
			if err != nil {
				return false, err
			}
			for _, e := range entries {
				ids[e.ID] = true
			}
		}
		d.unfinished[mailbox] = ids
	}
	return d.unfinished[mailbox][id], nil
}
