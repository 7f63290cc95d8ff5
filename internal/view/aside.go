package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// NoReason is displayed for a dead letter or a refusal that has no reason.
const NoReason = "no reason is recorded"

// A DeadLetter is a message that was given up on, or a file that is not a message.
type DeadLetter struct {
	ID      string       `json:"id"`
	Mailbox string       `json:"mailbox"`
	Created time.Time    `json:"created"`
	Reason  string       `json:"reason"`
	From    string       `json:"from,omitempty"` // "" for a file that is not a message
	Type    dropbox.Type `json:"type,omitempty"`
	Subject string       `json:"subject,omitempty"` // the subject or the beginning of the text; for a file that is not a message, its name

	Letter  dropbox.DeadLetter `json:"-"` // the same dead letter in the form that the mailbox returns
	Expires time.Time          `json:"-"` // zero: never
}

// Candidate returns the dead letter as one of several messages that match a partial id.
func (l DeadLetter) Candidate() client.Candidate {
	return client.Candidate{ID: l.ID, From: cmp.Or(l.From, "?"), To: l.Mailbox, Type: l.Type, Subject: l.Subject}
}

// DeadLetters lists the dead letters of mailboxes, oldest first.
func DeadLetters(c *client.Client, mailboxes []string) ([]DeadLetter, error) {
	list := []DeadLetter{}
	for _, name := range mailboxes {
		if err := c.MaySee(name); err != nil {
			return nil, err
		}
		box, err := c.Mailbox(name)
		if err != nil {
			return nil, err
		}
		letters, err := box.DeadLetters().List()
		if err != nil {
			return nil, err
		}
		for _, l := range letters {
			list = append(list, deadLetter(c, name, l))
		}
	}
	slices.SortStableFunc(list, func(a, b DeadLetter) int { return a.Created.Compare(b.Created) })
	return list, nil
}

func deadLetter(c *client.Client, mailbox string, l dropbox.DeadLetter) DeadLetter {
	v := DeadLetter{
		ID: cmp.Or(l.ID, l.Name), Mailbox: mailbox, Created: l.Created, Subject: l.Original,
		Reason: cmp.Or(l.Reason, NoReason), Letter: l,
	}
	if l.Original != "" {
		return v
	}
	found := dropbox.Found{Mailbox: mailbox, State: dropbox.Dead, Entry: l.Entry, Path: mailbox + "/dead/" + l.Name}
	if m, err := c.Store.Load(found); err == nil {
		v.From, v.Type, v.Subject, v.Expires = m.From, m.Type, m.Gist(), m.Expires
	}
	return v
}

// A Refusal is a message that a rule refused.
type Refusal struct {
	ID      string       `json:"id"`
	To      string       `json:"to"`
	From    string       `json:"from"`
	Type    dropbox.Type `json:"type"`
	Subject string       `json:"subject,omitempty"` // the subject or the beginning of the text
	Thread  string       `json:"thread"`
	Created time.Time    `json:"created"`
	Refused time.Time    `json:"refused"`
	Reason  string       `json:"reason"`

	Entry dropbox.Entry `json:"-"`
}

// Candidate returns the refusal as one of several messages that match a partial id.
func (r Refusal) Candidate() client.Candidate {
	return client.Candidate{ID: r.ID, From: cmp.Or(r.From, "?"), To: r.To, Type: r.Type, Subject: r.Subject}
}

// Refusals lists the messages to these mailboxes that were refused, oldest first.
func Refusals(c *client.Client, mailboxes []string) ([]Refusal, error) {
	list := []Refusal{}
	for _, name := range mailboxes {
		if err := c.MaySee(name); err != nil {
			return nil, err
		}
		box, err := c.Mailbox(name)
		if err != nil {
			return nil, err
		}
		refusals, err := box.Refusals().List()
		if err != nil {
			return nil, err
		}
		for _, r := range refusals {
			v := Refusal{ID: r.ID, To: name, Created: r.Created, Refused: r.At, Reason: cmp.Or(r.Reason, NoReason), Entry: r.Entry}
			if found, err := c.Store.Find(r.ID); err == nil {
				if m, err := c.Store.Load(found); err == nil {
					v.From, v.Type, v.Subject, v.Thread = m.From, m.Type, m.Gist(), m.Thread
				}
			}
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b Refusal) int { return a.Created.Compare(b.Created) })
	return list, nil
}
