package supervisor

import (
	"context"
	"slices"
	"sync"
)

// A question is a window that is waiting for the judge.
type question struct {
	watch   *Watch
	message string   // the message of the turn
	life    int      // of the watch; see Watch.life
	finding *Finding // the finding of the rules, or nil
	prompt  string
}

// A docket contains the questions that are waiting for the judge. It contains at most one
// question about each agent, the newest.
type docket struct {
	mu      sync.Mutex
	waiting map[*Watch]*question
	order   []*Watch
	wake    chan struct{}
}

func newDocket() *docket {
	return &docket{waiting: map[*Watch]*question{}, wake: make(chan struct{}, 1)}
}

// add adds a question. The new question replaces an older question about the same agent.
// If the new question has no finding, it inherits the finding of the older question,
// provided that both are about the same message and the watch was not reset in between.
func (d *docket) add(q *question) {
	d.mu.Lock()
	if old := d.waiting[q.watch]; old == nil {
		d.order = append(d.order, q.watch)
	} else if q.finding == nil && old.message == q.message && old.life == q.life {
		q.finding = old.finding
	}
	d.waiting[q.watch] = q
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// next waits for a question. It returns false when ctx is done.
func (d *docket) next(ctx context.Context) (*question, bool) {
	for {
		if q := d.pop(); q != nil {
			return q, true
		}
		select {
		case <-d.wake:
		case <-ctx.Done():
			return nil, false
		}
	}
}

func (d *docket) pop() *question {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.order) == 0 {
		return nil
	}
	w := d.order[0]
	d.order = d.order[1:]
	q := d.waiting[w]
	delete(d.waiting, w)
	return q
}

// drop removes the question about an agent.
func (d *docket) drop(w *Watch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, w)
	d.order = slices.DeleteFunc(d.order, func(o *Watch) bool { return o == w })
}
