package notice

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Announcer shows people what the swarm is doing in places outside the swarm, such as
// IRC channels. The daemon delivers copies to the mailbox of a bridge, and the bridge
// shows them. A copy does not wake an agent or pass a gate, and no agent waits for it.
// Only one goroutine at a time calls Copies. Methods must not block.
type Announcer interface {
	// Bridge is the name of the bridge and of its mailbox. The name never changes.
	Bridge() string
	// On reports whether there are any places. While there are none, no events are passed to
	// Copies.
	On() bool
	// Copies returns a copy for each place where the announcement is shown. The list may
	// be empty.
	Copies(Announcement) []Copy
}

// An Announcement is something that people may want to see.
type Announcement struct {
	// Kind is also [journal.Alert] if an alert has arrived in the lead's mailbox. For a
	// question from the daemon it is [journal.Mail], and the sender is swarm.
	Kind    journal.Kind
	Message *dropbox.Message // the message to show; it is never modified
	To      string           // the recipient's mailbox
	About   string           // id of the message with the details
	Agent   string           // the agent that the announcement is about, or ""
	// Of is the message of the turn. When the turn begins, it is the same as Message. It is
	// nil if there was no turn.
	Of *dropbox.Message

	// Task is the person's task that this event completes, or nil if it completes no
	// task. It is the task that the turn worked on, or the task from which this work was
	// delegated.
	Task *dropbox.Message
	// Notice is set if a person may have to act on the event.
	Notice *journal.Notice

	// Talk is set for trouble of the agent during the quiet hours, while people talk to the agent
	// through the bridge: their latest lines, newest first. The announcement is then only for
	// them, where they talk. Everybody else gets it after the quiet hours.
	Talk []*dropbox.Message

	key string // identifies a copy in combination with its place
}

// A Copy is the copy of an announcement for one place.
type Copy struct {
	Where string // the name of the place; different for each copy of an announcement
	Extra string // lines of YAML for the bridge; see [dropbox.Message]
	Text  string // the note to show there; if "", the subject and the body are shown
}

// mostCopies is the maximum number of copies that can wait while no bridge is running. A
// person who reads them an hour later wants the current state, not each step. Copies that
// people must see (mail, alerts, dead letters) are delivered even if that number is
// exceeded.
const mostCopies = 1000

// Announcing is the daemon's side of an [Announcer]. It is safe for concurrent use.
type Announcing struct {
	Announcer

	mu      sync.Mutex
	waiting int // number of copies in the bridge's mailbox: the last count plus the calls to room since then
}

// NewAnnouncing returns the daemon's side of an announcer, or nil without an announcer. The
// copies in the bridge's mailbox are counted before the first one is added.
func NewAnnouncing(a Announcer) *Announcing {
	if a == nil {
		return nil
	}
	return &Announcing{Announcer: a, waiting: mostCopies}
}

// copyFor returns the copy of an announcement for one place. The copy is not a reply to
// any message. An answer to the copy goes to the sender of the original.
func (mo Announcement) copyFor(c Copy, bridge string) *dropbox.Message {
	m := &dropbox.Message{
		From: cmp.Or(mo.Message.From, dropbox.Lead), To: []string{bridge}, Type: mo.Message.Type, Subject: mo.Message.Subject,
		Thread: mo.Message.Thread, Trace: mo.Message.Trace, Outcome: mo.Message.Outcome, Priority: dropbox.Normal,
		Key:  fmt.Sprintf("%s-%s-%s", bridge, mo.key, c.Where),
		Body: []byte(screen.Truncate(string(mo.Message.Body), MaxBody)), Extra: c.Extra,
	}
	if c.Text != "" {
		m.Type, m.Subject, m.Body = dropbox.Note, "", []byte(screen.Truncate(c.Text, MaxBody))
	}
	if catalogue[string(mo.Kind)].passing && c.Text == "" {
		m.Priority = dropbox.Low
	}
	return m
}

// Count counts the waiting copies. The daemon calls it each time it checks the folders.
func (m *Announcing) Count(store *dropbox.Store) {
	if m == nil {
		return
	}
	n := 0
	if box, err := store.Mailbox(m.Bridge()); err == nil {
		entries, _ := box.Peek()
		n = len(entries)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.waiting = n
}

// room reports whether another copy may be added. Before it returns false, it recounts
// the copies in the bridge's mailbox.
func (m *Announcing) room(store *dropbox.Store) bool {
	m.mu.Lock()
	m.waiting++
	enough := m.waiting <= mostCopies
	m.mu.Unlock()
	if enough {
		return true
	}
	m.Count(store)
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waiting < mostCopies
}
