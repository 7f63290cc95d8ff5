package swarm

import (
	"slices"
	"sync"
)

// waits says which turns wait for the end of which others. Two turns that wait for each
// other would never end. The zero value is ready to use; it is safe for several goroutines.
type waits struct {
	mu  sync.Mutex
	all []*turnWait
}

// A turnWait is a turn of one agent that waits for the end of a turn of another.
type turnWait struct {
	who, whom string
	turn      <-chan struct{} // closed when the turn of who has ended, and no process of it waits
}

// begin notes that a turn of who waits for the turn of whom, until end is called. It
// refuses where whom waits for who, directly or through others. With a nil turn it notes
// nothing.
func (w *waits) begin(who string, turn <-chan struct{}, whom string) (end func(), ok bool) {
	if turn == nil {
		return func() {}, true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(t *turnWait) bool { return isClosed(t.turn) })
	if w.leads(whom, who, map[string]bool{}) {
		return nil, false
	}
	note := &turnWait{who, whom, turn}
	w.all = append(w.all, note)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.all = slices.DeleteFunc(w.all, func(t *turnWait) bool { return t == note })
	}, true
}

// leads reports whether from waits for to, directly or through others. The caller holds mu.
func (w *waits) leads(from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	return slices.ContainsFunc(w.all, func(t *turnWait) bool {
		return t.who == from && !seen[t.whom] && w.leads(t.whom, to, seen)
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
