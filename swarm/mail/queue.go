package mail

import (
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// maxRung bounds the names that events may bring between two looks. When more
// come, the folder is listed instead: the names were only a short cut.
const maxRung = 1024

// A Queue is an agent's waiting mail as far as it is known: the lists in hand, and
// the names that events brought since. A backlog is listed once and worked off,
// not listed again for every message, and nothing that is done for each message
// goes through all of it. It is safe for several goroutines; only the agent's own
// goroutine takes from it.
type Queue struct {
	mu     sync.Mutex
	rung   []string        // names that events brought
	look   bool            // the folder must be listed
	list   []dropbox.Entry // to be worked on, in this order
	riders []dropbox.Entry // notes, which wake nobody and ride along, in their order
	count  Waiting         // of both
}

// Changed merges what an event said: a name in new/, or "" for "look".
func (q *Queue) Changed(name string) {
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

// Refresh brings the list up to date: by the names that were rung, or by list
// when a look is due.
func (q *Queue) Refresh(list func() ([]dropbox.Entry, error)) error {
	q.mu.Lock()
	look, rung := q.look, q.rung
	q.look, q.rung = false, nil
	q.mu.Unlock()
	if !look {
		for _, name := range rung {
			if e, err := dropbox.ParseName(name); err == nil {
				q.Add(e)
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
		q.Changed("")
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	known := make(map[string]bool, len(q.riders))
	for _, e := range q.riders {
		known[e.ID] = true
	}
	q.list, q.riders, q.count = make([]dropbox.Entry, 0, len(entries)), nil, Waiting{}
	for _, e := range entries {
		if known[e.ID] {
			q.riders = append(q.riders, e)
		} else {
			q.list = append(q.list, e)
		}
		q.count.Add(e.Priority, 1)
	}
	return nil
}

// Add puts an entry at its place. An entry that is there already is replaced.
func (q *Queue) Add(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i, found := rank(q.riders, e); found {
		q.riders[i] = e
		return
	}
	i, found := rank(q.list, e)
	if found {
		q.list[i] = e
		return
	}
	q.list = slices.Insert(q.list, i, e)
	q.count.Add(e.Priority, 1)
}

// rank is where an entry stands in a list, or belongs.
func rank(list []dropbox.Entry, e dropbox.Entry) (i int, found bool) {
	return slices.BinarySearchFunc(list, e, func(a, b dropbox.Entry) int { return strings.Compare(a.Base(), b.Base()) })
}

// without takes an entry out of a list and tells whether it was there.
func without(list []dropbox.Entry, e dropbox.Entry) ([]dropbox.Entry, bool) {
	i, found := rank(list, e)
	switch {
	case !found:
		return list, false
	case i == 0: // the usual case must not move a long backlog
		return list[1:], true
	}
	return slices.Delete(list, i, i+1), true
}

// Remove takes an entry out: it was claimed, or is gone.
func (q *Queue) Remove(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var work, rider bool
	q.list, work = without(q.list, e)
	q.riders, rider = without(q.riders, e)
	if work || rider {
		q.count.Add(e.Priority, -1)
	}
}

// Head is the next message to work on. Notes are passed over.
func (q *Queue) Head() (dropbox.Entry, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return dropbox.Entry{}, false
	}
	return q.list[0], true
}

// MarkNote notes that an entry wakes nobody.
func (q *Queue) MarkNote(e dropbox.Entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var found bool
	if q.list, found = without(q.list, e); !found {
		return
	}
	i, _ := rank(q.riders, e)
	q.riders = slices.Insert(q.riders, i, e)
}

// Notes lists the first few entries that are known to ride along.
func (q *Queue) Notes(most int) []dropbox.Entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.riders[:min(most, len(q.riders))])
}

// Stale tells whether the folder has to be listed before the count is to be
// believed, as while a long turn runs.
func (q *Queue) Stale() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.look
}

// Waiting counts what is in hand, with what events brought since.
func (q *Queue) Waiting() Waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := q.count
	for _, name := range q.rung {
		e, err := dropbox.ParseName(name)
		if err != nil {
			continue
		}
		_, work := rank(q.list, e)
		if _, rider := rank(q.riders, e); !work && !rider {
			w.Add(e.Priority, 1)
		}
	}
	return w
}

// Waiting counts the messages in new/.
type Waiting struct {
	Urgent int `json:"urgent"`
	Normal int `json:"normal"`
	Low    int `json:"low"`
}

// Total is the number of waiting messages.
func (w Waiting) Total() int { return w.Urgent + w.Normal + w.Low }

// Add counts n messages more.
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
