package mail

import (
	"cmp"
	"fmt"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Announcer shows people elsewhere, for example in IRC channels, what the swarm is
// doing: the daemon delivers copies to the mailbox of a bridge, and the bridge shows them.
// A copy wakes no agent and passes no gate, and no agent waits for it. Only one goroutine
// at a time calls Copies. No method may block.
type Announcer interface {
	// Bridge is the name of the bridge and of its mailbox. It is always the same.
	Bridge() string
	// Copies says where an announcement is shown; an empty list means nowhere.
	Copies(Announcement) []Copy
}

// An Announcement is something that people may want to see.
type Announcement struct {
	// Kind is also [journal.Alert] when an alert has arrived in the lead's mailbox. A
	// question from the daemon is [journal.Mail] from swarm.
	Kind    journal.Kind
	Message *dropbox.Message // what is shown; never changed
	To      string           // the recipient's mailbox
	About   string           // id of the message with the details
	Agent   string           // the agent that the announcement is about, or ""
	// Of is the message of the turn: the same as Message when the turn begins, nil if there
	// was no turn.
	Of *dropbox.Message

	// Task is the person's task that this event completes: the task that the turn worked
	// on, or one that this work was delegated from. It is nil if the event completes no
	// task.
	Task *dropbox.Message
	// Notice is what a person may have to act on, or nil.
	Notice *journal.Notice

	key string // identifies a copy, together with the place
}

// A Copy is one place where an announcement is shown.
type Copy struct {
	Where string // the name of the place; different in each copy of an announcement
	Extra string // lines of YAML for the bridge, see [dropbox.Message]
	Text  string // the note to show there; "" means the subject and the body
}

// mostCopies bounds the waiting copies while no bridge is running: a person who looks an
// hour later wants the current state, not each step. Copies that people must see (mail,
// alerts, dead letters) are delivered even if there are more.
const mostCopies = 1000

// Announcing is the daemon's side of an [Announcer]. It is safe for concurrent use.
type Announcing struct {
	Announcer

	mu      sync.Mutex
	waiting int // copies in the bridge's mailbox: the last count, plus the calls to room since then
}

// copyFor returns the copy of an announcement for one place. The copy is not a reply to
// any message: an answer to the copy goes to the sender of the original.
func (mo Announcement) copyFor(c Copy, bridge string) *dropbox.Message {
	m := &dropbox.Message{
		From: cmp.Or(mo.Message.From, dropbox.Lead), To: []string{bridge}, Type: mo.Message.Type, Subject: mo.Message.Subject,
		Thread: mo.Message.Thread, Trace: mo.Message.Trace, Priority: dropbox.Normal,
		Key:  fmt.Sprintf("%s-%s-%s", bridge, mo.key, c.Where),
		Body: []byte(cut(string(mo.Message.Body), maxTold)), Extra: c.Extra,
	}
	if c.Text != "" {
		m.Type, m.Subject, m.Body = dropbox.Note, "", []byte(cut(c.Text, maxTold))
	}
	if passing(mo.Kind) && c.Text == "" {
		m.Priority = dropbox.Low
	}
	return m
}

// passing reports whether events of a kind may be left out when there are too many.
func passing(kind journal.Kind) bool {
	return kind == journal.Begun || kind == journal.Result || kind == journal.Failed || kind == journal.Permission
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

// room reports whether one more copy may wait. Before it returns false, it recounts the
// bridge's mailbox.
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
