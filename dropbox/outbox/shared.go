package outbox

import "sync"

// A shared makes many calls of do into few: calls that come while do runs form the next batch.
// It is used for work that takes as long for many items as for one.
type shared[T any] struct {
	do func([]T) []error // returns one error for each item

	running sync.Mutex // held while do runs

	mu   sync.Mutex
	next *batch[T] // the batch that has not begun; nil if there is none
}

// A batch is the items of one call of do, and then their errors.
type batch[T any] struct {
	items []T
	errs  []error
	done  bool // guarded by shared.running
}

// of passes items to do, and returns one error for each of them.
func (s *shared[T]) of(items []T) []error {
	s.mu.Lock()
	b := s.next
	if b == nil {
		b = &batch[T]{}
		s.next = b
	}
	at := len(b.items)
	b.items = append(b.items, items...)
	s.mu.Unlock()

	s.running.Lock()
	defer s.running.Unlock()
	if !b.done { // otherwise another caller has run the batch
		s.mu.Lock()
		if s.next == b {
			s.next = nil
		}
		s.mu.Unlock()
		b.errs = s.do(b.items)
		b.done = true
	}
	return b.errs[at : at+len(items)]
}
