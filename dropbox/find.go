package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
)

// A State is the state of a message and also the name of its folder.
type State string

// The states, in the order in which [Store.All] lists them.
const (
	Waiting State = newFolder
	Claimed State = curFolder
	Done    State = doneFolder
	Dead    State = deadFolder
	Refused State = refusedDir // stored outside the mailboxes; see [Mailbox.Refuse]
)

// A Found is a search result: a message in any mailbox.
type Found struct {
	Mailbox string
	State   State
	Entry   Entry
	Day     string // for a message in done/, the day when it was finished, as 2006-01-02
	Path    string // relative to the store's folder, with slashes
}

// All yields every message in every mailbox and every file that was set aside. It reads
// only names and does not open any file. Mailboxes are in the order of their names,
// followed by the topics. Within a mailbox, waiting and claimed messages come first, then
// finished messages by day, then dead letters and refused messages, each group in the
// order of the names. All stops after the first error.
func (s *Store) All() iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		mailboxes, err := s.Mailboxes()
		if err != nil {
			yield(Found{}, err)
			return
		}
		for _, name := range append(mailboxes, topicsDir) {
			if !s.allIn(name, yield) {
				return
			}
		}
	}
}

// All is like [Store.All], but yields only the messages of this mailbox.
func (b *Mailbox) All() iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) { b.store.allIn(b.name, yield) }
}

// allIn yields the messages of one mailbox. It returns false after an error or if the
// caller stops.
func (s *Store) allIn(mailbox string, yield func(Found, error) bool) bool {
	days, err := s.disk.names(mailbox + "/" + doneFolder)
	if err != nil {
		yield(Found{}, fmt.Errorf("look through mailbox %s: %w", mailbox, err))
		return false
	}
	days = slices.DeleteFunc(days, func(day string) bool { return !isDay(day) })
	slices.Sort(days)
	type place struct {
		state State
		day   string
	}
	places := []place{{Waiting, ""}, {Claimed, ""}}
	for _, day := range days {
		places = append(places, place{Done, day})
	}
	for _, p := range append(places, place{Dead, ""}, place{Refused, ""}) {
		folder := mailbox + "/" + string(p.state)
		switch {
		case p.day != "":
			folder += "/" + p.day
		case p.state == Refused:
			folder = refusedDir + "/" + mailbox
		}
		list := s.disk.names
		if p.day != "" {
			list = s.disk.dayNames
		}
		names, err := list(folder)
		if err != nil {
			yield(Found{}, fmt.Errorf("look through %s: %w", folder, err))
			return false
		}
		slices.Sort(names)
		for _, name := range names {
			e, ok := parseName(name)
			if !ok {
				d, aside := parseAside(name)
				if p.state != Dead || !aside || strings.HasSuffix(name, reasonEnd) {
					continue
				}
				e = d.Entry
			}
			if !yield(Found{Mailbox: mailbox, State: p.state, Entry: e, Day: p.day, Path: folder + "/" + name}, nil) {
				return false
			}
		}
	}
	return true
}

// Find searches all mailboxes and states for the single message that part matches (see
// [MatchID]). The error is [ErrNotFound], or an [*AmbiguousError] if part matches several
// messages.
func (s *Store) Find(part string) (Found, error) {
	if !idPartShape(part) || len(part) < MinIDPart {
		return Found{}, fmt.Errorf("find %q: %w", part, ErrNotFound)
	}
	var hits []Found
	for f, err := range s.All() {
		if err != nil {
			return Found{}, fmt.Errorf("find %s: %w", part, err)
		}
		if !MatchID(f.Entry.ID, part) {
			continue
		}
		// A message that is found twice moved during the search, so keep the later
		// location.
		if at := slices.IndexFunc(hits, func(h Found) bool { return h.Entry.ID == f.Entry.ID }); at >= 0 {
			hits[at] = f
			continue
		}
		hits = append(hits, f)
	}
	switch len(hits) {
	case 0:
		return Found{}, fmt.Errorf("find %s: %w", part, ErrNotFound)
	case 1:
		return hits[0], nil
	}
	slices.SortFunc(hits, func(a, b Found) int { return strings.Compare(a.Entry.ID, b.Entry.ID) })
	return Found{}, fmt.Errorf("find %s: %w", part, &AmbiguousError{Part: part, Found: hits})
}

// Load reads a message that a search found. The error is [ErrGone] if the message has
// moved since the search; the caller can then search again.
func (s *Store) Load(f Found) (*Message, error) {
	data, err := s.disk.readFile(f.Path, s.maxFile())
	var m *Message
	if err == nil {
		m, err = parseAs(f.Entry, data)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	return m, nil
}

// Message finds and reads the message with the given id, even while another process is
// moving it. The error is as for [Store.Find].
func (s *Store) Message(id string) (m *Message, err error) {
	for range 5 {
		var found Found
		if found, err = s.Find(id); err == nil {
			m, err = s.Load(found)
		}
		if !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone) {
			break
		}
	}
	if errors.Is(err, ErrGone) {
		err = ErrNotFound
	}
	return m, err
}

// Walk calls visit with every message, in the order of All, until visit returns false. It
// omits files that are not messages, and messages that move during the walk. It reads
// every file, so use it in commands that people run, but not in a daemon's loop.
func (s *Store) Walk(visit func(Found, *Message) bool) error {
	for f, err := range s.All() {
		if err != nil {
			return fmt.Errorf("walk: %w", err)
		}
		m, err := s.Load(f)
		if errors.Is(err, ErrGone) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) {
			continue
		} else if err != nil {
			return fmt.Errorf("walk: %w", err)
		}
		if !visit(f, m) {
			return nil
		}
	}
	return nil
}

// Unfinished calls visit with every message that is waiting or claimed, mailbox by
// mailbox, until visit returns false. It does not open the messages. It visits only the
// mailboxes for which in returns true, or all mailboxes if in is nil. A message that is
// claimed during the call may be visited twice.
func (s *Store) Unfinished(in func(mailbox string) bool, visit func(*Mailbox, Entry) bool) error {
	names, err := s.Mailboxes()
	if err != nil {
		return err
	}
	for _, name := range names {
		if in != nil && !in(name) {
			continue
		}
		box, err := s.Mailbox(name)
		if errors.Is(err, ErrNoMailbox) {
			continue // removed in the meantime
		} else if err != nil {
			return err
		}
		waiting, err := box.Peek() // list new/ first, so that a message that is claimed in the meantime is found in cur/
		if err != nil {
			return err
		}
		claimed, err := box.Claimed()
		if err != nil {
			return err
		}
		for _, e := range slices.Concat(waiting, claimed) {
			if !visit(box, e) {
				return nil
			}
		}
	}
	return nil
}

// An AmbiguousError lists the messages that a partial id matches.
type AmbiguousError struct {
	Part  string
	Found []Found // sorted by their ids
}

func (e *AmbiguousError) Error() string {
	var ids []string
	for _, f := range e.Found {
		ids = append(ids, f.Entry.ID)
	}
	return fmt.Sprintf("%q matches %d messages: %s", e.Part, len(ids), strings.Join(ids, ", "))
}

// Unwrap returns [ErrAmbiguous].
func (e *AmbiguousError) Unwrap() error { return ErrAmbiguous }
