package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Candidate is one of several messages whose ids match the same partial id.
type Candidate struct {
	ID, From, To string
	Type         dropbox.Type
	Subject      string // the beginning of the text if there is no subject
}

// String returns a line that describes the candidate to a person.
func (c Candidate) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s  %s → %s  %s  %s", c.ID, c.From, c.To, c.Type, c.Subject))
}

// An AmbiguousError lists the messages whose ids match the same partial id.
type AmbiguousError struct {
	Part       string
	What       string // such as "messages"
	Candidates []Candidate
}

// Error returns a string with one line for each message.
func (e *AmbiguousError) Error() string {
	text := fmt.Sprintf("%q matches %d %s:", e.Part, len(e.Candidates), e.What)
	for _, c := range e.Candidates {
		text += "\n  " + c.String()
	}
	return text
}

// Unwrap makes an AmbiguousError match [dropbox.ErrAmbiguous].
func (e *AmbiguousError) Unwrap() error { return dropbox.ErrAmbiguous }

// Find returns the only message, among those that the caller may read, whose id matches
// part; see [dropbox.MatchID]. A full id always finds its message. The error is
// [dropbox.ErrNotFound], or an [*AmbiguousError].
func (c *Client) Find(part string) (dropbox.Found, error) {
	found, err := c.Store.Find(part)
	several, ok := errors.AsType[*dropbox.AmbiguousError](err)
	if !ok {
		return found, err
	}
	readable := &AmbiguousError{Part: part, What: "messages"}
	for _, f := range several.Found {
		m, err := c.Store.Load(f)
		if err != nil {
			m = nil // not a message, or moved in the meantime: only the known fields of the candidate are set
		}
		if c.MayReadMessage(f, m) != nil {
			continue
		}
		found = f
		cand := Candidate{ID: f.Entry.ID, From: "?", To: f.Mailbox}
		if m != nil {
			cand.From, cand.Type, cand.Subject = m.From, m.Type, m.Gist()
		}
		readable.Candidates = append(readable.Candidates, cand)
	}
	switch len(readable.Candidates) {
	case 0:
		return dropbox.Found{}, fmt.Errorf("find %s: %w", part, dropbox.ErrNotFound)
	case 1:
		return found, nil
	}
	return dropbox.Found{}, readable
}

// Message finds a message in any mailbox by its id or part of the id, and reads it. It
// returns the same errors as [Client.Find].
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
