package turn

import (
	"slices"
	"sync"
)

// WaitingClients bounds the clients that wait for their agent's next message, over all
// agents: the one that has waited longest goes first. It is safe for concurrent use.
type WaitingClients struct {
	mu   sync.Mutex
	most int
	all  []*waiting // the longest wait first
}

// waiting is one client that waits.
type waiting struct {
	wake    func() // wakes the agent, which closes the client when tooMany is set
	tooMany bool
}

// NewWaitingClients bounds the clients that wait by most.
func NewWaitingClients(most int) *WaitingClients { return &WaitingClients{most: most} }

// tooMany reports whether a client must be closed, since others wait too. It is false for nil.
func (w *WaitingClients) tooMany(c *waiting) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return c != nil && c.tooMany
}

// add notes that a client begins to wait. wake is called when it must be closed.
func (w *WaitingClients) add(wake func()) *waiting {
	c := &waiting{wake: wake}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, c)
	w.shrink()
	return c
}

// remove notes that a client no longer waits. It does nothing for nil, and for a client
// that was one too many.
func (w *WaitingClients) remove(c *waiting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(other *waiting) bool { return other == c })
}

// Resize changes how many may wait.
func (w *WaitingClients) Resize(most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.most = most
	w.shrink()
}

// shrink wakes the agents of the oldest clients, as many as there are too many. The caller
// holds w.mu.
func (w *WaitingClients) shrink() {
	for len(w.all) > w.most {
		w.all[0].tooMany = true
		w.all[0].wake()
		w.all = w.all[1:]
	}
}
