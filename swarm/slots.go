package swarm

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"time"
)

// slots limits how many turns run at the same time. Waiting agents get slots in the order
// of their messages' names, which is by priority and then by age. A slots is safe for
// concurrent use.
type slots struct {
	mu      sync.Mutex
	free    int
	total   int
	waiting waiters
}

// A waiter waits for a slot. Its got channel is closed when the waiter has a slot.
type waiter struct {
	order string
	got   chan struct{}
	index int // position in the heap, or -1 if the waiter is not in it
}

func newSlots(n int) *slots { return &slots{free: n, total: n} }

// errWoken reports that a wakeup ended the wait for a slot.
var errWoken = errors.New("woken while waiting for a slot")

// acquire waits for a slot. The parameter order is the name of the message for which the
// caller needs the slot, and determines the caller's place in the queue. If the error is
// nil, the caller must release the slot. If acquire receives a value from the channel wake,
// it returns errWoken. The channel may be nil.
func (s *slots) acquire(ctx context.Context, order string, wake <-chan struct{}) error {
	s.mu.Lock()
	if s.free > 0 && len(s.waiting) == 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	w := &waiter{order: order, got: make(chan struct{})}
	heap.Push(&s.waiting, w)
	s.mu.Unlock()
	err := errWoken
	select {
	case <-w.got:
		return nil
	case <-wake:
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.index >= 0 {
		heap.Remove(&s.waiting, w.index)
		return err
	}
	s.giveBack() // the waiter got a slot in the meantime; pass it on
	return err
}

// full reports whether acquire would wait.
func (s *slots) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.free <= 0 || len(s.waiting) > 0
}

// places returns the number of free slots.
func (s *slots) places() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.free)
}

func (s *slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.giveBack()
}

// resize changes the number of slots. Running turns continue. If there are fewer slots,
// later turns may have to wait.
func (s *slots) resize(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free += n - s.total
	s.total = n
	s.serve()
}

func (s *slots) giveBack() {
	s.free++
	s.serve()
}

// serve gives the free slots to the first waiters. The caller holds s.mu.
func (s *slots) serve() {
	for s.free > 0 && len(s.waiting) > 0 {
		w := heap.Pop(&s.waiting).(*waiter)
		s.free--
		close(w.got)
	}
}

// waiters is a heap whose first waiter gets the next free slot.
type waiters []*waiter

func (w waiters) Len() int           { return len(w) }
func (w waiters) Less(i, j int) bool { return w[i].order < w[j].order }
func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}
func (w *waiters) Push(x any) {
	it := x.(*waiter)
	it.index = len(*w)
	*w = append(*w, it)
}
func (w *waiters) Pop() any {
	old := *w
	it := old[len(old)-1]
	old[len(old)-1] = nil
	it.index = -1
	*w = old[:len(old)-1]
	return it
}

// forever stands for an endless wait. The value is longer than any useful wait, and the
// folder check wakes the agents every 30 s anyway.
const forever = 365 * 24 * time.Hour

// wait returns when the wakeup is triggered, after d, or when ctx is done.
func (w wakeup) wait(ctx context.Context, d time.Duration) {
	if d != forever {
		w.waitFor(ctx, d)
		return
	}
	select { // an idle agent needs no timer
	case <-w:
	case <-ctx.Done():
	}
}

func (w wakeup) waitFor(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-w:
	case <-t.C:
	case <-ctx.Done():
	}
}

// A wakeup wakes one goroutine. A buffer for one value is enough, because the woken
// goroutine checks everything.
type wakeup chan struct{}

func newWakeup() wakeup { return make(wakeup, 1) }

func (w wakeup) wake() {
	select {
	case w <- struct{}{}:
	default: // a wakeup is already pending
	}
}
