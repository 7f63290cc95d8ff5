package bridge

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// mail is the bridge's mailbox, and the store around it.
type mail struct {
	store *dropbox.Store
	box   *dropbox.Mailbox
	name  string // of the mailbox, and so of the bridge
	title string // the network's name for people
	sign  func(m *dropbox.Message, to string) string
}

// find looks for a message and reads it. A message that is being moved may seem to be
// nowhere, or be gone from its place, so find looks more than once: the answer to a message
// comes at the very moment when the message is filed.
func (l *mail) find(id string) (f dropbox.Found, m *dropbox.Message, err error) {
	for range 5 {
		if f, err = l.store.Find(id); err == nil {
			m, err = l.store.Load(f)
		}
		if !errors.Is(err, dropbox.ErrNotFound) && !errors.Is(err, dropbox.ErrGone) {
			break
		}
	}
	return f, m, err
}

// origin returns the origin of a message.
func (l *mail) origin(m *dropbox.Message) (Origin, bool) { return OriginOf(m, l.name) }

// originOf returns the origin of the message with that id, zero if it did not come from the
// network.
func (l *mail) originOf(id string) Origin {
	_, m, err := l.find(id)
	if err != nil || m.From != l.name {
		return Origin{}
	}
	o, _ := l.origin(m)
	return o
}

// draft returns a message from the bridge to a mailbox.
func (l *mail) draft(to string, m *dropbox.Message) dropbox.Draft {
	d := dropbox.Draft{To: to, Message: m}
	if l.sign != nil {
		d.Sign = func(m *dropbox.Message) string { return l.sign(m, to) }
	}
	return d
}

// deliver delivers a message from the bridge.
func (l *mail) deliver(to string, m *dropbox.Message) (dropbox.Delivery, error) {
	return l.store.DeliverSigned(to, m, l.draft(to, m).Sign)
}

// file files one message with its receipt. It may be repeated.
func (l *mail) file(st dropbox.Settlement) error {
	return l.box.SettleBatch([]dropbox.Settlement{st})[0]
}

// isHere reports whether a message has that id, or an id that contains this part, if the
// part is long enough.
func (l *mail) isHere(id string) bool {
	if len(id) < leastRead {
		return false
	}
	_, err := l.store.Find(id)
	return err == nil
}

// maxAhead is the greatest number of messages before a task that the bridge counts.
const maxAhead = 100

// before counts the messages that an agent handles before the given one: those that it is
// working on, and those that wait before the given one and begin a turn.
func (l *mail) before(agent, id string) (n int, err error) {
	box, err := l.store.Mailbox(agent)
	if err != nil {
		return 0, err
	}
	waiting, err := box.Peek()
	if err != nil {
		return 0, err
	}
	claimed, err := box.Claimed()
	if err != nil {
		return 0, err
	}
	for _, e := range claimed {
		if e.ID == id {
			return 0, nil // it has begun to work on it
		}
		n++
	}
	now := time.Now()
	for _, e := range waiting {
		if e.ID == id || n > maxAhead {
			break
		}
		if m, err := box.Read(e); err == nil && m.Type.Wakes() && !m.Expired(now) {
			n++
		}
	}
	return n, nil
}
