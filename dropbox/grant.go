package dropbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// A Grant says who has claimed a publication. It is one small file, put there by a
// rename that replaces nothing: of all who claim at once, in whatever process, one
// alone gets it, and a crash takes it from nobody.
type Grant struct {
	ID    string    `json:"id"`    // of the publication
	Agent string    `json:"agent"` // who has it
	Turn  string    `json:"turn,omitempty"`
	At    time.Time `json:"at"`
}

// A TakenError says that somebody else has claimed a publication, or has closed it.
type TakenError struct {
	Grant
	Closed bool
}

func (e *TakenError) Error() string {
	if e.Closed {
		return fmt.Sprintf("%s is closed: %s has done it", e.ID, e.Agent)
	}
	return fmt.Sprintf("%s is claimed by %s already", e.ID, e.Agent)
}

// Unwrap makes a TakenError an [ErrTaken].
func (e *TakenError) Unwrap() error { return ErrTaken }

// A Publication is work that was published and is not closed yet.
type Publication struct {
	ID      string
	Message *Message
	Grant   *Grant // nil: nobody has claimed it
}

func grantFile(id string) string { return topicsDir + "/" + grantsFolder + "/" + id }

// topics is the box of the publications: open ones in new/ and cur/, closed ones
// in done/.
func (s *Store) topics() *Mailbox { return &Mailbox{store: s, disk: s.disk, name: topicsDir} }

// ClaimOffer gives a publication to an agent, durable. To repeat it is harmless.
// The error is [ErrNotFound] when there is no such publication, and a
// [*TakenError] when another agent has it or it is closed.
func (s *Store) ClaimOffer(id, agent, turn string) (Grant, error) {
	g, err := s.claimOffer(Grant{ID: id, Agent: agent, Turn: turn, At: s.opts.Now().UTC()})
	if err != nil {
		return g, fmt.Errorf("claim: %w", err)
	}
	return g, nil
}

func (s *Store) claimOffer(g Grant) (Grant, error) {
	if err := checkMailbox(g.Agent); err != nil {
		return Grant{}, err
	}
	if !validID(g.ID) {
		return Grant{}, fmt.Errorf("%q: %w", g.ID, ErrNotFound)
	}
	if had, err := s.GrantOf(g.ID); err == nil { // spare the disk a grant that will not be needed
		return had, had.mustBe(g.Agent)
	} else if !errors.Is(err, ErrNotFound) {
		return Grant{}, err
	}
	if _, err := s.openEntry(g.ID); err != nil {
		return Grant{}, err
	}
	data, err := json.Marshal(g)
	if err != nil {
		return Grant{}, err
	}
	scratch := topicsDir + "/" + tmpFolder + "/grant-" + NewID()
	if err := s.disk.write(scratch, append(data, '\n')); err != nil {
		return Grant{}, err
	}
	err = s.disk.move(scratch, grantFile(g.ID))
	if errors.Is(err, fs.ErrExist) {
		if err := ignoreMissing(s.disk.remove(scratch)); err != nil {
			return Grant{}, err
		}
		had, err := s.GrantOf(g.ID)
		return had, errors.Join(err, had.mustBe(g.Agent))
	} else if err != nil {
		return Grant{}, errors.Join(err, ignoreMissing(s.disk.remove(scratch)))
	}
	if err := s.disk.syncDir(topicsDir + "/" + grantsFolder); err != nil {
		return Grant{}, err
	}
	// It may have been closed, and its grant cleaned away, since the look above.
	if _, err := s.openEntry(g.ID); err != nil {
		return Grant{}, errors.Join(err, ignoreMissing(s.disk.remove(grantFile(g.ID))))
	}
	return g, nil
}

// mustBe is an error unless the grant is that agent's.
func (g Grant) mustBe(agent string) error {
	if g.Agent == agent {
		return nil
	}
	return &TakenError{Grant: g}
}

// GrantOf says who has claimed a publication; the error is [ErrNotFound] when
// nobody has.
func (s *Store) GrantOf(id string) (Grant, error) {
	var g Grant
	data, err := s.disk.readFile(grantFile(id), 4<<10)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return g, fmt.Errorf("claim of %s: %w", id, ErrNotFound)
	case err == nil:
		err = json.Unmarshal(data, &g)
	}
	if err != nil {
		return g, fmt.Errorf("claim of %s: %w", id, err)
	}
	return g, nil
}

// ReleaseOffer takes a claim back, so that others may claim. It does nothing when
// the publication is claimed by somebody else, or by nobody.
func (s *Store) ReleaseOffer(id, agent string) error {
	g, err := s.GrantOf(id)
	if errors.Is(err, ErrNotFound) || err == nil && g.Agent != agent {
		return nil
	}
	if err == nil {
		err = ignoreMissing(s.disk.remove(grantFile(id)))
	}
	if err == nil {
		err = s.disk.syncDir(topicsDir + "/" + grantsFolder)
	}
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	return nil
}

// CloseOffer files a publication that is done with: with its receipt it goes to
// done/, durable. Only who has claimed it may close it. To repeat it is harmless.
// The errors are [ErrNotFound] and [*TakenError].
func (s *Store) CloseOffer(id, agent string, receipt []byte) error {
	if err := s.closeOffer(id, agent, receipt); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	return nil
}

func (s *Store) closeOffer(id, agent string, receipt []byte) error {
	g, err := s.GrantOf(id)
	if err == nil {
		err = g.mustBe(agent)
	}
	if err != nil {
		return err
	}
	e, err := s.openEntry(id)
	if t, closed := errors.AsType[*TakenError](err); closed && t.Agent == agent {
		return nil
	}
	if err != nil {
		return err
	}
	box := s.topics()
	if err := box.Commit(e, receipt); err != nil {
		return err
	}
	return box.Finish(e)
}

// FinishOffers files the publications whose closing a crash cut off after their
// receipt was written. Any process may call it; to repeat it is harmless. It costs one
// listing when there is nothing to do.
func (s *Store) FinishOffers() error {
	box := s.topics()
	closed, err := box.Receipts()
	if err != nil || len(closed) == 0 {
		return err
	}
	fresh, _, err := box.list(newFolder)
	if err != nil {
		return fmt.Errorf("finish publications: %w", err)
	}
	for _, e := range closed {
		// A publication stays in new/ until it is filed.
		if i := slices.IndexFunc(fresh, func(f Entry) bool { return f.ID == e.ID }); i >= 0 {
			e = fresh[i]
		}
		if err := box.Finish(e); err != nil {
			return err
		}
	}
	return nil
}

// openEntry finds a publication that is not closed. The error is a [*TakenError]
// when it is.
func (s *Store) openEntry(id string) (Entry, error) {
	box := s.topics()
	for _, folder := range []string{newFolder, curFolder} {
		entries, _, err := box.list(folder)
		if err != nil {
			return Entry{}, err
		}
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == id })
		if i < 0 {
			continue
		}
		// Anyone who finds a receipt finishes what was cut off.
		if done, err := box.HasReceipt(entries[i]); err != nil {
			return Entry{}, err
		} else if done {
			if err := box.Finish(entries[i]); err != nil {
				return Entry{}, err
			}
			break
		}
		return entries[i], nil
	}
	closed := false
	var failed error
	s.allIn(topicsDir, func(f Found, err error) bool {
		closed, failed = err == nil && f.Entry.ID == id, err
		return !closed
	})
	if failed != nil {
		return Entry{}, failed
	}
	if closed {
		g, err := s.GrantOf(id)
		if errors.Is(err, ErrNotFound) {
			g, err = Grant{ID: id, Agent: "somebody"}, nil
		}
		return Entry{}, errors.Join(err, &TakenError{Grant: g, Closed: true})
	}
	return Entry{}, fmt.Errorf("%s: %w", id, ErrNotFound)
}

// OpenOffers lists the publications that are not closed, in the order of work.
// What is not a message is left out.
func (s *Store) OpenOffers() ([]Publication, error) {
	box := s.topics()
	var all []Publication
	for _, folder := range []string{newFolder, curFolder} {
		entries, _, err := box.list(folder)
		if err != nil {
			return nil, fmt.Errorf("list publications: %w", err)
		}
		for _, e := range entries {
			m, err := box.Read(e)
			if errors.Is(err, ErrGone) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) {
				continue
			} else if err != nil {
				return nil, fmt.Errorf("list publications: %w", err)
			}
			o := Publication{ID: e.ID, Message: m}
			if g, err := s.GrantOf(e.ID); err == nil {
				o.Grant = &g
			} else if !errors.Is(err, ErrNotFound) {
				return nil, err
			}
			all = append(all, o)
		}
	}
	return all, nil
}

// cleanGrants removes the grants of publications that were closed a week ago.
func (s *Store) cleanGrants(now time.Time) (removed int, err error) {
	names, err := s.disk.names(topicsDir + "/" + grantsFolder)
	if err != nil || len(names) == 0 {
		return 0, err
	}
	open, err := s.OpenOffers()
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		st, err := s.disk.stat(grantFile(name))
		if err != nil || now.Sub(modTime(&st)) <= keyLife || slices.ContainsFunc(open, func(o Publication) bool { return o.ID == name }) {
			continue
		}
		if err := ignoreMissing(s.disk.remove(grantFile(name))); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// OfferOf returns a publication that is not closed. The error is [ErrNotFound], or
// a [*TakenError] when it is closed.
func (s *Store) OfferOf(id string) (Publication, error) {
	p, err := s.offerOf(id)
	if err != nil {
		return p, fmt.Errorf("publication: %w", err)
	}
	return p, nil
}

func (s *Store) offerOf(id string) (Publication, error) {
	p := Publication{ID: id}
	if !validID(id) {
		return p, fmt.Errorf("%q: %w", id, ErrNotFound)
	}
	e, err := s.openEntry(id)
	if err != nil {
		return p, err
	}
	if p.Message, err = s.topics().Read(e); err != nil {
		return p, err
	}
	g, err := s.GrantOf(id)
	switch {
	case err == nil:
		p.Grant = &g
	case !errors.Is(err, ErrNotFound):
		return p, err
	}
	return p, nil
}
