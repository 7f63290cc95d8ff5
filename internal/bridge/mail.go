package bridge

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// mail is the bridge's mailbox, together with the store that contains it.
type mail struct {
	store *dropbox.Store
	box   *dropbox.Mailbox
	name  string // the name of the mailbox, and therefore of the bridge
	title string // the network's name as people know it
	sign  func(m *dropbox.Message, to string) string
}

// find finds a message and reads it. A message that is being moved may not be found, or
// may be gone before it is read. find therefore tries several times. This matters because
// the answer to a message often arrives while the message is being filed.
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

// originOf returns the origin of the message with the given id, or a zero Origin if the
// message did not come from the network.
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

// file files one message with its receipt. Calling it again is safe.
func (l *mail) file(st dropbox.Settlement) error {
	return l.box.SettleBatch([]dropbox.Settlement{st})[0]
}

// isHere reports whether the store has a message with that id. id may be part of an id if
// it has at least leastRead characters and matches only one message.
func (l *mail) isHere(id string) bool {
	if len(id) < leastRead {
		return false
	}
	_, err := l.store.Find(id)
	return err == nil
}

// maxAhead is the largest number of messages ahead of a task that the bridge reports
// exactly.
const maxAhead = 100

// before counts the messages that an agent will handle before the message with the given
// id. These are the messages that the agent is working on, and the earlier waiting
// messages that begin a turn.
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
			return 0, nil // the agent has started work on it
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
