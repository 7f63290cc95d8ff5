package swarm

import (
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// maxRung bounds the names that events may bring between two looks. When more
// come, the folder is listed instead: the names were only a short cut.
const maxRung = 1024

// A doorbell wakes one agent. It holds one ring, and one is enough: whoever
// hears it looks at everything.
type doorbell chan struct{}

func newDoorbell() doorbell { return make(doorbell, 1) }

func (b doorbell) ring() {
	select {
	case b <- struct{}{}:
	default: // somebody rang already
	}
}

// queue is an agent's waiting mail as far as it is known: the list in hand, and
// the names that events brought since. A backlog is listed once and worked off,
// not listed again for every message. It is safe for several goroutines; only
// the agent's own goroutine takes from it.
type queue struct {
	mu   sync.Mutex
	rung []string        // names that events brought
	look bool            // the folder must be listed
	list []dropbox.Entry // in the order of work
	note map[string]bool // ids in list that wake nobody: they ride along
}

// ring merges what an event said: a name in new/, or "" for "look".
func (q *queue) ring(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if name == "" || len(q.rung) >= maxRung {
		q.look, q.rung = true, nil
		return
	}
	if !q.look {
		q.rung = append(q.rung, name)
	}
}

// refresh brings the list up to date: by the names that were rung, or by list
// when a look is due.
func (q *queue) refresh(list func() ([]dropbox.Entry, error)) error {
	q.mu.Lock()
	look, rung := q.look, q.rung
	q.look, q.rung = false, nil
	q.mu.Unlock()
	if !look {
		for _, name := range rung {
			if e, err := dropbox.ParseName(name); err == nil {
				q.add(e)
			} else {
				look = true // something strange: the listing sets it aside
			}
		}
	}
	if !look {
		return nil
	}
	entries, err := list()
	if err != nil {
		q.ring("")
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = entries
	for id := range q.note {
		if !slices.ContainsFunc(entries, func(e dropbox.Entry) bool { return e.ID == id }) {
			delete(q.note, id)
		}
	}
	return nil
}

// add puts an entry at its place. An entry that is there already is replaced.
func (q *queue) add(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, found := slices.BinarySearchFunc(q.list, e, compareEntries)
	if found {
		q.list[i] = e
		return
	}
	q.list = slices.Insert(q.list, i, e)
}

func compareEntries(a, b dropbox.Entry) int { return strings.Compare(a.Base(), b.Base()) }

// remove takes an entry out: it was claimed, or is gone.
func (q *queue) remove(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.note, e.ID)
	i, found := slices.BinarySearchFunc(q.list, e, compareEntries)
	switch {
	case !found:
	case i == 0: // the usual case must not move a long backlog
		q.list = q.list[1:]
	default:
		q.list = slices.Delete(q.list, i, i+1)
	}
}

// head is the next message to work on. Notes are passed over.
func (q *queue) head() (dropbox.Entry, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.list {
		if !q.note[e.ID] {
			return e, true
		}
	}
	return dropbox.Entry{}, false
}

// markNote notes that an entry wakes nobody.
func (q *queue) markNote(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.note == nil {
		q.note = map[string]bool{}
	}
	q.note[e.ID] = true
}

// notes lists the first few entries that are known to ride along.
func (q *queue) notes(most int) []dropbox.Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	var out []dropbox.Entry
	if len(q.note) == 0 {
		return nil
	}
	for _, e := range q.list {
		if q.note[e.ID] && len(out) < most {
			out = append(out, e)
		}
	}
	return out
}

// stale tells whether the folder has to be listed before the count is to be
// believed, as while a long turn runs.
func (q *queue) stale() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.look
}

// waiting counts what is in hand, with what events brought since.
func (q *queue) waiting() Waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	var w Waiting
	for _, e := range q.list {
		switch e.Priority {
		case dropbox.Urgent:
			w.Urgent++
		case dropbox.Low:
			w.Low++
		default:
			w.Normal++
		}
	}
	for _, name := range q.rung {
		e, err := dropbox.ParseName(name)
		if err != nil {
			continue
		}
		if _, found := slices.BinarySearchFunc(q.list, e, compareEntries); found {
			continue
		}
		switch e.Priority {
		case dropbox.Urgent:
			w.Urgent++
		case dropbox.Low:
			w.Low++
		default:
			w.Normal++
		}
	}
	return w
}
