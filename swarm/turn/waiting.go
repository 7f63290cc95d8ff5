package turn

import (
	"slices"
	"sync"
)

// WaitingClients limits how many clients, across all agents, can wait for the next
// message. If too many are waiting, the client that has been waiting longest is closed
// first. A WaitingClients is safe for concurrent use.
type WaitingClients struct {
	mu   sync.Mutex
	most int
	all  []*waiting // in the order in which they began to wait
}

// waiting represents one waiting client.
type waiting struct {
	wake    func() // wakes the agent, which closes the client when tooMany is set
	tooMany bool
}

// NewWaitingClients returns a WaitingClients that allows at most the given number of
// waiting clients.
func NewWaitingClients(most int) *WaitingClients { return &WaitingClients{most: most} }

// tooMany reports whether a client must be closed because too many clients are waiting.
// It returns false if c is nil.
func (w *WaitingClients) tooMany(c *waiting) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return c != nil && c.tooMany
}

// add records that a client has begun to wait. The function wake is called when the
// client must be closed.
func (w *WaitingClients) add(wake func()) *waiting {
	c := &waiting{wake: wake}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, c)
	w.shrink()
	return c
}

// remove records that a client is no longer waiting. It does nothing if c is nil, or if
// the client was already removed because too many clients were waiting.
func (w *WaitingClients) remove(c *waiting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(other *waiting) bool { return other == c })
}

// Resize changes how many clients may wait.
func (w *WaitingClients) Resize(most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most = most
	w.shrink()
}

// shrink wakes the agents whose clients have been waiting longest, and removes those
// clients, until the number of clients is within the limit. The caller holds w.mu.
func (w *WaitingClients) shrink() {
	for len(w.all) > w.most {
		w.all[0].tooMany = true
		w.all[0].wake()
		w.all = w.all[1:]
	}
}
