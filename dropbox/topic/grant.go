package topic

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// ErrTaken reports that another agent has claimed a publication, or that it is closed.
// See [TakenError].
var ErrTaken = errors.New("claimed by another agent")

// A Grant records which agent has claimed a publication. It is a small file that is
// created by a rename that never replaces an existing file. Therefore only one of several
// concurrent callers, even in different processes, gets the grant, and the grant survives
// a crash.
type Grant struct {
	ID    string    `json:"id"`    // id of the publication
	Agent string    `json:"agent"` // the agent that has claimed the publication
	Turn  string    `json:"turn,omitempty"`
	At    time.Time `json:"at"`
}

// A TakenError reports that another agent has claimed a publication, or that the
// publication is closed.
type TakenError struct {
	Grant
	Closed bool
}

func (e *TakenError) Error() string {
	if e.Closed {
		return fmt.Sprintf("%s is closed: %s completed it", e.ID, e.Agent)
	}
	return fmt.Sprintf("%s is already claimed by %s", e.ID, e.Agent)
}

// Unwrap makes [errors.Is] match a TakenError with [ErrTaken].
func (e *TakenError) Unwrap() error { return ErrTaken }

// A Publication is work that has been published but not yet closed.
type Publication struct {
	ID      string
	Message *dropbox.Message
	Grant   *Grant // nil if the publication is unclaimed
}

// Claim durably assigns a publication to an agent. It is safe to repeat the call. The error
// is [dropbox.ErrNotFound] if there is no such publication, or a [*TakenError] if another
// agent has claimed or closed it. An agent that has closed the publication gets its existing
// grant, as long as that grant is kept.
func (t Topics) Claim(id, agent, turn string) (Grant, error) {
	g, err := t.claim(Grant{ID: id, Agent: agent, Turn: turn, At: t.store.Now().UTC()})
	if err != nil {
		return g, fmt.Errorf("claim: %w", err)
	}
	return g, nil
}

func (t Topics) claim(g Grant) (Grant, error) {
	if err := dropbox.CheckMailbox(g.Agent); err != nil {
		return Grant{}, err
	}
	if !dropbox.ValidID(g.ID) {
		return Grant{}, fmt.Errorf("%q: %w", g.ID, dropbox.ErrNotFound)
	}
	if had, err := t.GrantOf(g.ID); err == nil { // a grant already exists
		return had, t.confirm(had, g.Agent)
	} else if !errors.Is(err, dropbox.ErrNotFound) {
		return Grant{}, err
	}
	if _, err := t.openEntry(g.ID); err != nil {
		return Grant{}, err
	}
	data, err := json.Marshal(g)
	if err != nil {
		return Grant{}, err
	}
	if err := t.grants.Add(g.ID, append(data, '\n')); errors.Is(err, fs.ErrExist) {
		had, err := t.GrantOf(g.ID)
		return had, errors.Join(err, t.confirm(had, g.Agent))
	} else if err != nil {
		return Grant{}, err
	}
	// After the check above, the publication may have been closed and Clean may have removed
	// its grant.
	if _, err := t.openEntry(g.ID); err != nil {
		return Grant{}, errors.Join(err, t.grants.Remove(g.ID))
	}
	return g, nil
}

// confirm returns an error unless the existing grant belongs to the given agent. The process
// that created the grant may have been killed before the grant was durable, so confirm syncs
// it.
func (t Topics) confirm(had Grant, agent string) error {
	if err := had.mustBe(agent); err != nil {
		return err
	}
	return t.grants.Sync()
}

// mustBe returns an error unless the grant belongs to the given agent.
func (g Grant) mustBe(agent string) error {
	if g.Agent == agent {
		return nil
	}
	return &TakenError{Grant: g}
}

// GrantOf returns the grant of a publication. The error is [dropbox.ErrNotFound] if the
// publication is unclaimed.
func (t Topics) GrantOf(id string) (Grant, error) {
	var g Grant
	data, err := t.grants.Read(id, 4<<10)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g, fmt.Errorf("claim of %s: %w", id, dropbox.ErrNotFound)
	case err == nil:
		err = json.Unmarshal(data, &g)
	}
	if err != nil {
		return g, fmt.Errorf("claim of %s: %w", id, err)
	}
	return g, nil
}

// Release durably releases an agent's claim, so that other agents can claim the
// publication. It does nothing if another agent has claimed it. It is safe to repeat the
// call.
func (t Topics) Release(id, agent string) error {
	g, err := t.GrantOf(id)
	switch {
	case errors.Is(err, dropbox.ErrNotFound):
		// An earlier Release may have been interrupted before the removal was durable.
		if err = t.grants.Sync(); errors.Is(err, fs.ErrNotExist) {
			err = nil // no work has been published yet
		}
	case err == nil && g.Agent == agent:
		err = t.grants.Remove(id)
	}
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// Close files a finished publication: it durably moves the publication and its receipt to
// done/. Only the agent that has claimed the publication can close it. It is safe to
// repeat the call. The possible errors include [dropbox.ErrNotFound] and [*TakenError].
func (t Topics) Close(id, agent string, receipt []byte) error {
	if err := t.close(id, agent, receipt); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

func (t Topics) close(id, agent string, receipt []byte) error {
	g, err := t.GrantOf(id)
	if err == nil {
		err = g.mustBe(agent)
	}
	if err != nil {
		return err
	}
	e, err := t.openEntry(id)
	if t, closed := errors.AsType[*TakenError](err); closed && t.Agent == agent {
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.box.Commit(e, receipt); err != nil {
		return err
	}
	return t.box.Finish(e)
}

// Finish files publications whose Close was interrupted by a crash after it had written
// the receipt. Any process can call Finish, and it is safe to repeat the call. If there
// are no such publications, Finish only lists a folder.
func (t Topics) Finish() error {
	closed, err := t.box.Receipts()
	if err != nil || len(closed) == 0 {
		return err
	}
	waiting, err := t.box.Peek()
	if err != nil {
		return err
	}
	for _, e := range closed {
		// A publication stays in new/ until it is filed.
		if i := slices.IndexFunc(waiting, func(f dropbox.Entry) bool { return f.ID == e.ID }); i >= 0 {
			e = waiting[i]
		}
		if err := t.box.Finish(e); err != nil {
			return err
		}
	}
	return nil
}

// openEntry finds a publication that is not closed. If it is closed, the error is a
// [*TakenError].
func (t Topics) openEntry(id string) (dropbox.Entry, error) {
	for _, list := range []func() ([]dropbox.Entry, error){t.box.Peek, t.box.Claimed} {
		entries, err := list()
		if err != nil {
			return dropbox.Entry{}, err
		}
		i := slices.IndexFunc(entries, func(e dropbox.Entry) bool { return e.ID == id })
		if i < 0 {
			continue
		}
		// A receipt here means that Close was interrupted, so this call files the
		// publication.
		if done, err := t.box.HasReceipt(entries[i]); err != nil {
			return dropbox.Entry{}, err
		} else if done {
			if err := t.box.Finish(entries[i]); err != nil {
				return dropbox.Entry{}, err
			}
			break
		}
		return entries[i], nil
	}
	closed := false
	for f, err := range t.box.All() {
		if err != nil {
			return dropbox.Entry{}, err
		}
		if closed = f.Entry.ID == id; closed {
			break
		}
	}
	if closed {
		g, err := t.GrantOf(id)
		if errors.Is(err, dropbox.ErrNotFound) {
			g, err = Grant{ID: id, Agent: "somebody"}, nil
		}
		return dropbox.Entry{}, errors.Join(err, &TakenError{Grant: g, Closed: true})
	}
	return dropbox.Entry{}, fmt.Errorf("%s: %w", id, dropbox.ErrNotFound)
}

// Open lists the claimed and unclaimed publications that are not closed, in the order of
// [dropbox.Mailbox.List]. It omits files that are not messages.
func (t Topics) Open() ([]Publication, error) {
	var all []Publication
	for _, list := range []func() ([]dropbox.Entry, error){t.box.Peek, t.box.Claimed} {
		entries, err := list()
		if err != nil {
			return nil, fmt.Errorf("list publications: %w", err)
		}
		for _, e := range entries {
			m, err := t.box.Read(e)
			if errors.Is(err, dropbox.ErrGone) || errors.Is(err, dropbox.ErrInvalid) || errors.Is(err, dropbox.ErrTooLarge) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("list publications: %w", err)
			}
			o := Publication{ID: e.ID, Message: m}
			if g, err := t.GrantOf(e.ID); err == nil {
				o.Grant = &g
			} else if !errors.Is(err, dropbox.ErrNotFound) {
				return nil, err
			}
			all = append(all, o)
		}
	}
	return all, nil
}

// grantLife is how long the grant of a closed publication is kept, counted from the
// claim. A message's key is kept for the same length of time.
const grantLife = 7 * 24 * time.Hour

// Clean removes files that crashes left in the topics folder, as [dropbox.Mailbox.Clean]
// does for a mailbox. It also removes grants older than a week if their publications are
// closed. It is safe to repeat the call. It returns the number of removed files.
func (t Topics) Clean(now time.Time) (removed int, err error) {
	if removed, err = t.box.Clean(now); err != nil {
		return removed, err
	}
	old, err := t.oldGrants(now)
	if err == nil && len(old) > 0 {
		err = t.grants.Remove(old...)
	}
	if err != nil {
		return removed, fmt.Errorf("clean topics: %w", err)
	}
	return removed + len(old), nil
}

func (t Topics) oldGrants(now time.Time) ([]string, error) {
	names, err := t.grants.Names()
	if err != nil || len(names) == 0 {
		return nil, err
	}
	open, err := t.Open()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		at, err := t.grants.ModTime(name)
		return err != nil || now.Sub(at) <= grantLife || slices.ContainsFunc(open, func(p Publication) bool { return p.ID == name })
	}), nil
}

// Find returns a publication that is not closed. The error is [dropbox.ErrNotFound] if
// there is no such publication, or a [*TakenError] if it is closed.
func (t Topics) Find(id string) (Publication, error) {
	p, err := t.find(id)
	if err != nil {
		return p, fmt.Errorf("publication: %w", err)
	}
	return p, nil
}

func (t Topics) find(id string) (Publication, error) {
	p := Publication{ID: id}
	if !dropbox.ValidID(id) {
		return p, fmt.Errorf("%q: %w", id, dropbox.ErrNotFound)
	}
	e, err := t.openEntry(id)
	if err != nil {
		return p, err
	}
	if p.Message, err = t.box.Read(e); err != nil {
		return p, err
	}
	g, err := t.GrantOf(id)
	switch {
	case err == nil:
		p.Grant = &g
	case !errors.Is(err, dropbox.ErrNotFound):
		return p, err
	}
	return p, nil
}
