package swarm

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// tasks knows how far the tasks of all agents have come, as the holds of a message need it. A
// task is a message and all that came of it; its id is the trace of these messages. A tasks is
// safe for concurrent use.
type tasks struct {
	book    *budget.Book
	store   *dropbox.Store
	turnsAt func(time.Time) []*journal.Record
	members func() []*member
	depends *mail.Dependencies
	note    func(error)
	version atomic.Uint64 // changes when a held message may have become free

	mu    sync.Mutex                  // locked while open runs
	heads map[string]*dropbox.Message // by id: the messages that the last call of open has found, without their bodies
}

// taskOf returns the id of the task to which a message belongs.
func taskOf(m *dropbox.Message) string { return cmp.Or(m.Trace, m.ID) }

// begun reports whether a turn has run, or is running, on the task of a message in an agent's
// mailbox. Work on a backlog that the agent has not claimed begins a task, even if it was
// published in a task that has begun.
func (t *tasks) begun(agent string, m *dropbox.Message) bool {
	if m.Offer != "" && topic.IsBacklog(m.Topic) {
		grant, err := topic.Of(t.store).GrantOf(m.Offer)
		return err == nil && grant.Agent == agent
	}
	task := taskOf(m)
	if task == "" {
		return false // the daemon asks before it sends a heartbeat
	}
	if t.book.Begun(task) {
		return true
	}
	for _, rec := range t.turnsAt(time.Now()) {
		if cmp.Or(rec.Trace, rec.Message) == task {
			return true
		}
	}
	return false
}

// moved records that a task has begun, that a message has been settled, or that a hold has
// changed, and wakes the agents that hold messages.
func (t *tasks) moved() {
	t.version.Add(1)
	for _, m := range t.members() {
		if m.inbox.Queue.HasParked() {
			m.wakeup.wake()
		}
	}
}

// waits contains the messages that an agent has parked. Only the agent's goroutine uses it.
type waits struct {
	version uint64                      // that of tasks when the messages were parked
	first   hold.Held                   // how to show the agent when only parked messages are left
	heads   map[string]*dropbox.Message // by id: the parked messages without their bodies
	told    map[string]bool             // the lost dependencies of which the lead has been told
}

// unpark returns the parked messages to the queue if one of them may have become free.
func (a *agent) unpark() {
	version := a.tasks.version.Load()
	if changed := a.budget.changed(); !changed && version == a.waits.version {
		return
	}
	a.waits.version, a.waits.first = version, hold.Held{}
	if !a.inbox.Queue.HasParked() {
		a.waits.heads = nil
		return
	}
	a.inbox.Queue.Unpark()
}

// park leaves a message in new/ until its hold may have ended. The agent handles other mail
// first.
func (a *agent) park(e dropbox.Entry, m *dropbox.Message, h hold.Held) {
	a.tellLost(m, h.Depends)
	a.inbox.Queue.Park(e)
	if a.waits.first.Why == "" {
		a.waits.first = h
	}
	if a.waits.heads == nil {
		a.waits.heads = map[string]*dropbox.Message{}
	}
	if a.waits.heads[e.ID] == nil {
		head := *m
		head.Body = nil
		a.waits.heads[e.ID] = &head
	}
}

// stillWaits reports whether a message that was parked before is still held, without reading its
// file: all parked messages are examined after each turn.
func (a *agent) stillWaits(e dropbox.Entry) (head *dropbox.Message, h hold.Held, held bool) {
	if head = a.waits.heads[e.ID]; head != nil {
		if h, held = a.admission.waits.First(a.queryFor(head, time.Now())); !held {
			delete(a.waits.heads, e.ID)
		}
	}
	return head, h, held
}
