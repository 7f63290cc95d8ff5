package mail

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// maxChanged is the maximum number of names that are collected from events between two
// calls to Refresh. If there are more, Refresh lists the folder instead. The names are
// only an optimization.
const maxChanged = 1024

// A Queue contains the known waiting mail of an agent: the lists from the last Refresh,
// and the names from later events. A backlog is listed only once, not for every message,
// and handling one message never iterates over the whole backlog. A Queue is safe for
// concurrent use, but only the agent's own goroutine takes messages from it.
type Queue struct {
	mu      sync.Mutex
	changed []string        // names in new/ from events
	look    bool            // the folder must be listed
	list    []dropbox.Entry // messages that start turns, in the order of those turns
	notes   []dropbox.Entry // notes for the next turn's prompt, in prompt order
	parked  []dropbox.Entry // messages that are waiting for budget, in the order in which they will get it
	count   Waiting         // number of entries in all three lists
	gone    map[string]bool // ids of messages that are known, but not in the lists; see TakeKnown
	removed map[string]bool // ids of messages that were claimed; see TakeKnown
}

// Changed records an event. name is a name in new/, or "" if the folder must be listed.
func (q *Queue) Changed(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if name == "" || len(q.changed) >= maxChanged {
		for _, name := range q.changed {
			q.heard(name)
		}
		q.look, q.changed = true, nil
	}
	if q.look {
		q.heard(name)
		return
	}
	q.changed = append(q.changed, name)
}

// Refresh updates the queue with the names from events, or with the result of list if the
// folder must be listed.
func (q *Queue) Refresh(list func() ([]dropbox.Entry, error)) error {
	q.mu.Lock()
	look, names := q.look, q.changed
	q.look, q.changed = false, nil
	q.mu.Unlock()
	if !look {
		for _, name := range names {
			if e, err := dropbox.ParseName(name); err == nil {
				q.Add(e)
			} else {
				look = true // not a message; list sets it aside
			}
		}
	}
	if !look {
		return nil
	}
	entries, err := list()
	if err != nil {
		q.Changed("")
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, list := range [][]dropbox.Entry{q.list, q.notes, q.parked} {
		for _, e := range list {
			if _, there := rank(entries, e); !there {
				q.lacks(e.ID)
			}
		}
	}
	notes, parked := ids(q.notes), ids(q.parked)
	q.list, q.notes, q.parked, q.count = make([]dropbox.Entry, 0, len(entries)), nil, nil, Waiting{}
	for _, e := range entries {
		switch {
		case notes[e.ID]:
			q.notes = append(q.notes, e)
		case parked[e.ID]:
			q.parked = append(q.parked, e)
		default:
			q.list = append(q.list, e)
		}
		q.count.Add(e.Priority, 1)
	}
	return nil
}

// maxGone is the maximum number of ids in Queue.gone.
const maxGone = 10_000

// heard records the name of a message that only a listing would add to the queue. If its
// folder is deleted, no listing contains it. The caller holds the mutex.
func (q *Queue) heard(name string) {
	if e, err := dropbox.ParseName(name); err == nil {
		q.lacks(e.ID)
	}
}

// lacks records that a message may have been deleted. The caller holds the mutex.
func (q *Queue) lacks(id string) {
	if q.gone == nil {
		q.gone = map[string]bool{}
	}
	if len(q.gone) < maxGone {
		q.gone[id] = true
	}
}

// Lacks records that a message could not be claimed because its file is gone.
func (q *Queue) Lacks(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.removed, e.ID)
	q.lacks(e.ID)
}

// TakeKnown returns the ids of all messages that the queue contains, and of those that it
// has heard of since the last call but does not contain. Most of the latter were moved, for
// example by claude-swarm cancel. claimed contains those that the agent has claimed since
// the last call.
func (q *Queue) TakeKnown() (known, claimed map[string]bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	known, claimed = q.gone, q.removed
	q.gone, q.removed = nil, nil
	if known == nil {
		known = map[string]bool{}
	}
	maps.DeleteFunc(known, func(id string, _ bool) bool { return claimed[id] })
	for _, list := range [][]dropbox.Entry{q.list, q.notes, q.parked} {
		for _, e := range list {
			known[e.ID] = true
		}
	}
	return known, claimed
}

// ids returns the ids of entries.
func ids(list []dropbox.Entry) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, e := range list {
		all[e.ID] = true
	}
	return all
}

// Add inserts an entry at its sorted position. It replaces an existing entry for the same
// message.
func (q *Queue) Add(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, aside := range [][]dropbox.Entry{q.notes, q.parked} {
		if i, found := rank(aside, e); found {
			aside[i] = e
			return
		}
	}
	i, found := rank(q.list, e)
	if found {
		q.list[i] = e
		return
	}
	q.list = slices.Insert(q.list, i, e)
	q.count.Add(e.Priority, 1)
}

// insert inserts an entry at its sorted position in a list.
func insert(list []dropbox.Entry, e dropbox.Entry) []dropbox.Entry {
	i, _ := rank(list, e)
	return slices.Insert(list, i, e)
}

// rank returns the index of an entry in a list, or the index at which it must be
// inserted.
func rank(list []dropbox.Entry, e dropbox.Entry) (i int, found bool) {
	return slices.BinarySearchFunc(list, e, func(a, b dropbox.Entry) int { return strings.Compare(a.Base(), b.Base()) })
}

// without removes an entry from a list and reports whether the list contained the entry.
func without(list []dropbox.Entry, e dropbox.Entry) ([]dropbox.Entry, bool) {
	i, found := rank(list, e)
	switch {
	case !found:
		return list, false
	case i == 0: // the first entry is the usual case, and its removal must not move a long backlog
		return list[1:], true
	}
	return slices.Delete(list, i, i+1), true
}

// Remove removes an entry that was claimed. If the message no longer exists, the caller then
// calls Lacks.
func (q *Queue) Remove(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var work, note, parked bool
	q.list, work = without(q.list, e)
	q.notes, note = without(q.notes, e)
	q.parked, parked = without(q.parked, e)
	if work || note || parked {
		q.count.Add(e.Priority, -1)
	}
	if q.removed == nil {
		q.removed = map[string]bool{}
	}
	q.removed[e.ID] = true
}

// Head returns the next message to work on. It skips notes and parked messages.
func (q *Queue) Head() (dropbox.Entry, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return dropbox.Entry{}, false
	}
	return q.list[0], true
}

// Urgent lists the first few urgent messages. It skips notes.
func (q *Queue) Urgent(most int) []dropbox.Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < min(most, len(q.list)) && q.list[n].Priority == dropbox.Urgent {
		n++
	}
	return slices.Clone(q.list[:n])
}

// MarkNote marks an entry as a note. Notes do not start turns.
func (q *Queue) MarkNote(e dropbox.Entry) {
	q.moveTo(&q.notes, e)
}

// Park sets an entry aside until Unpark is called.
func (q *Queue) Park(e dropbox.Entry) {
	q.moveTo(&q.parked, e)
}

// moveTo moves an entry from the list of waiting mail to another list.
func (q *Queue) moveTo(other *[]dropbox.Entry, e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var found bool
	if q.list, found = without(q.list, e); found {
		*other = insert(*other, e)
	}
}

// Unpark moves the parked entries back to the list of waiting mail.
func (q *Queue) Unpark() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.parked {
		q.list = insert(q.list, e)
	}
	q.parked = nil
}

// HasParked reports whether any entry is parked.
func (q *Queue) HasParked() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.parked) > 0
}

// Notes lists the first few entries that are known to be notes.
func (q *Queue) Notes(most int) []dropbox.Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.notes[:min(most, len(q.notes))])
}

// Stale reports whether the count may be wrong until the folder is listed again, for
// example during a long turn.
func (q *Queue) Stale() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.look
}

// Waiting counts the entries in the lists, and the new names from later events.
func (q *Queue) Waiting() Waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.count
	for _, name := range q.changed {
		e, err := dropbox.ParseName(name)
		if err != nil {
			continue
		}
		_, work := rank(q.list, e)
		_, note := rank(q.notes, e)
		if _, parked := rank(q.parked, e); !work && !note && !parked {
			w.Add(e.Priority, 1)
		}
	}
	return w
}

// Waiting contains the number of messages in new/ for each priority.
type Waiting struct {
	Urgent int `json:"urgent"` // messages of priority urgent
	Normal int `json:"normal"` // messages of priority normal
	Low    int `json:"low"`    // messages of priority low
}

// Total returns the number of waiting messages.
func (w Waiting) Total() int { return w.Urgent + w.Normal + w.Low }

// Add adds n messages of the given priority.
func (w *Waiting) Add(p dropbox.Priority, n int) {
	switch p {
	case dropbox.Urgent:
		w.Urgent += n
	case dropbox.Low:
		w.Low += n
	default:
		w.Normal += n
	}
}
