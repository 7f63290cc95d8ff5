package dropbox

import (
	"errors"
	"fmt"
	"slices"
)

// Send delivers a message to all names in m.To and, as a note, to all names in m.CC. Each
// recipient gets a separate file with its own id; all the files have the same thread. The
// name "all" means every agent that has a mailbox, except the sender. Each recipient gets
// the message once.
//
// Send checks all names before it writes any file. If a name is wrong or a mailbox is
// full, it does not deliver the message to any recipient. If the disk fails partway, Send
// returns the error and the deliveries made so far. If the message has a Key, it is safe
// to send it again.
//
// If sign is not nil, Send calls it for each copy with the mailbox and the message,
// complete except for the proof. sign returns the proof; see [Proof].
func (s *Store) Send(m *Message, sign func(m *Message, to string) string) (sent []Delivery, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("send: %w", err)
		}
	}()
	to, err := s.expand(m.To, m.From)
	if err != nil {
		return nil, err
	}
	cc, err := s.expand(m.CC, m.From)
	if err != nil {
		return nil, err
	}
	if len(to) == 0 {
		return nil, invalid("no recipient")
	}
	for _, name := range slices.Concat(to, cc) {
		if err := s.known(name); err != nil {
			return nil, err
		}
		if err := s.checkRoom(name, m); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	out := *m
	if out.Thread == "" && len(to)+len(cc) > 1 && out.Key == "" {
		out.Thread = NewID() // a message with several recipients has a separate thread id
	}
	for i, name := range slices.Concat(to, cc) {
		if i >= len(to) {
			if slices.Contains(to, name) {
				continue
			}
			out.Type = Note
		}
		d, err := s.DeliverSigned(name, &out, signFor(sign, name))
		if err != nil {
			return sent, err
		}
		sent = append(sent, d)
		// If this call repeats an earlier one with the same key, use the thread of the
		// first delivery.
		setIfEmpty(&out.Thread, d.Thread)
		setIfEmpty(&out.Trace, sent[0].ID)
	}
	return sent, nil
}

func signFor(sign func(*Message, string) string, to string) func(*Message) string {
	if sign == nil {
		return nil
	}
	return func(m *Message) string { return sign(m, to) }
}

// expand checks the names, replaces "all" with the names of the agents except the sender,
// and removes duplicates.
func (s *Store) expand(names []string, from string) ([]string, error) {
	var list []string
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range names {
		if name != All {
			if err := CheckMailbox(name); err != nil {
				return nil, s.misnamed(name, err)
			} else if name == Hooks {
				return nil, &NameError{Name: name, Reason: "reserved"} // only the daemon delivers to this mailbox
			}
			add(name)
			continue
		}
		everybody, err := s.Mailboxes()
		if err != nil {
			return nil, err
		}
		for _, name := range everybody {
			if CheckAgent(name) == nil && name != from {
				add(name)
			}
		}
	}
	return list, nil
}

// copied returns the names in m.CC that get a copy of a message. It omits first, the
// recipient of the message itself. It also omits names that no mailbox can have. The error
// is [ErrFull] if a mailbox has no room for its copy.
func (s *Store) copied(first string, m *Message) ([]string, error) {
	names, err := s.expand(slices.DeleteFunc(slices.Clone(m.CC), func(name string) bool {
		return name != All && (name == Hooks || CheckMailbox(name) != nil)
	}), m.From)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == first })
	note := *m
	note.Type = Note
	for _, name := range names {
		if err := s.checkRoom(name, &note); err != nil {
			return nil, fmt.Errorf("copy to %s: %w", name, err)
		}
	}
	return names, nil
}

// copies delivers the message as a note to those of the given names that have a mailbox.
// Because of the key, repeating the call is safe.
func (s *Store) copies(names []string, m *Message, thread string) error {
	note := *m
	note.Type, note.Thread = Note, thread
	for _, name := range names {
		if _, err := s.DeliverSigned(name, &note, nil); err != nil && !errors.Is(err, ErrNoMailbox) {
			return err
		}
	}
	return nil
}
