package swarm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// ErrNotDraining reports that an agent was not draining.
var ErrNotDraining = errors.New("was not draining")

// Drain lets an agent finish the tasks that have begun, and keeps it from beginning other
// tasks. Mail is accepted and waits. The drain survives a restart. An agent that is already
// draining keeps the first order.
func (or *Orders) Drain(agent, by string) error {
	defer or.tasks.moved()
	return or.steer(agent, func(st *journal.Hold) {
		if st.Drain == nil {
			st.Drain = &journal.Drain{By: by, Since: time.Now().UTC().Round(0)}
		}
	})
}

// Undrain lets an agent begin tasks again. If it was not draining, the error is
// [ErrNotDraining]. Only a person may end a person's drain. If an agent tries to do so, the
// error is a [*PersonError].
func (or *Orders) Undrain(agent, by string) error {
	if _, err := or.member(agent); err != nil {
		return err
	}
	d := or.holds.Of(agent).Drain
	switch {
	case d == nil:
		return fmt.Errorf("%s %w", agent, ErrNotDraining)
	case !or.fromPerson(by) && or.fromPerson(d.By):
		return &PersonError{Name: agent}
	}
	defer or.tasks.moved()
	return or.steer(agent, func(st *journal.Hold) { st.Drain = nil })
}

// An openMessage is a message of a begun task that has not been settled.
type openMessage struct {
	mailbox string
	head    *dropbox.Message
}

// open returns the messages of begun tasks that are waiting for a turn, or that a turn is
// working on. It is for the status of draining agents, because it reads all waiting messages
// that it does not know from the last call.
func (t *tasks) open() (list []openMessage, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	// While one mailbox is listed, an answer may move a task to a mailbox that was listed
	// before. The second round finds it there. A task that moves on in between changes the
	// version.
	for range 3 {
		version := t.version.Load()
		heads := map[string]*dropbox.Message{}
		list = nil
		for range 2 {
			for _, m := range t.members() {
				more, err := t.openIn(m, heads)
				if err != nil {
					return nil, err
				}
				list = append(list, more...)
			}
		}
		t.heads = heads
		if t.version.Load() == version {
			break
		}
	}
	return list, nil
}

// openIn returns those of [tasks.open] that are in one mailbox. It adds the messages of the
// mailbox to heads. The caller holds the mutex.
func (t *tasks) openIn(m *member, heads map[string]*dropbox.Message) (list []openMessage, err error) {
	waiting, err := m.inbox.Box.Peek()
	if err != nil {
		return nil, err
	}
	claimed, err := m.inbox.Box.Claimed() // after the waiting ones, so that no claim is missed
	if err != nil {
		return nil, err
	}
	for i, e := range slices.Concat(waiting, claimed) {
		head := cmp.Or(heads[e.ID], t.heads[e.ID])
		if head == nil {
			if head, err = m.inbox.Box.Read(e); err != nil {
				continue // just filed, or not a message
			}
			head.Body = nil
		}
		heads[e.ID] = head
		if head.Type.Wakes() && (i >= len(waiting) || t.begun(m.name, head)) {
			list = append(list, openMessage{m.name, head})
		}
	}
	return list, nil
}

// drainOf returns the status of an agent's drain. A task is open for the agent while one of its
// messages is in the agent's mailbox, or while another agent works on a message that came from
// the agent, so that its answer may need a turn.
func drainOf(agent string, d *journal.Drain, open []openMessage) *DrainStatus {
	var ids []string
	for _, o := range open {
		if o.mailbox == agent || o.head.From == agent || slices.Contains(o.head.Path, agent) {
			ids = append(ids, taskOf(o.head))
		}
	}
	slices.Sort(ids)
	return &DrainStatus{By: d.By, Since: d.Since.UTC(), Tasks: append([]string{}, slices.Compact(ids)...)}
}

// Text describes how far a drain is.
func (d *DrainStatus) Text() string {
	if len(d.Tasks) == 0 {
		return "drained"
	}
	return "draining: " + screen.Count(len(d.Tasks), "task") + " open"
}

// showDrain adds an agent's drain to its status.
func showDrain(a *AgentStatus, d *journal.Drain, open []openMessage) {
	a.Drain = drainOf(a.Name, d, open)
	text := d.Reason(a.Drain.Text())
	if drains := hold.Drains(a.Name, d); a.State == Paused && a.Why == drains.Why {
		a.Why = text
	} else {
		a.Why, a.Next = both(a.Why, text), cmp.Or(a.Next, drains.Next)
	}
}
