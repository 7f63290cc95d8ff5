package turn

import (
	"slices"
	"testing"
)

// If too many clients are waiting, the agents of those that have been waiting longest are
// woken to close them. A removed client does not count.
func TestWaitingClients(t *testing.T) {
	w := NewWaitingClients(2)
	var all []*waiting
	var woken [4]bool
	for i := range woken {
		if i == 2 {
			w.remove(all[0])
		}
		all = append(all, w.add(func() { woken[i] = true }))
	}
	w.Resize(1)
	w.remove(nil)
	for i, want := range []bool{false, true, true, false} {
		if got := w.tooMany(all[i]); got != want || woken[i] != want {
			t.Errorf("client %d: too many %v, agent woken %v; want %v", i, got, woken[i], want)
		}
	}
	w.remove(all[1]) // it was already closed
	if !slices.Equal(w.all, all[3:]) || w.tooMany(nil) {
		t.Errorf("%d clients wait, want the last", len(w.all))
	}
}
