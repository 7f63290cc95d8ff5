package outbox

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Calls that come while a batch runs form the next batch, and each gets its own errors.
func TestCallsShareABatch(t *testing.T) {
	odd := errors.New("odd")
	var batches [][]int
	entered, release := make(chan struct{}), make(chan struct{})
	var s shared[int]
	s.do = func(items []int) []error {
		if batches = append(batches, slices.Clone(items)); len(batches) == 1 {
			close(entered)
			<-release
		}
		errs := make([]error, len(items))
		for i, n := range items {
			if n%2 == 1 {
				errs[i] = odd
			}
		}
		return errs
	}
	var calls sync.WaitGroup
	call := func(items ...int) {
		calls.Go(func() {
			for i, err := range s.of(items) {
				if (err != nil) != (items[i]%2 == 1) {
					t.Errorf("%d: %v", items[i], err)
				}
			}
		})
	}
	waiting := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.next == nil {
			return 0
		}
		return len(s.next.items)
	}
	call(1)
	<-entered
	call(2, 3)
	call(4)
	call(5, 6, 7)
	for waiting() < 6 {
		runtime.Gosched()
	}
	close(release)
	calls.Wait()
	if len(batches) != 2 || len(batches[0]) != 1 || len(batches[1]) != 6 {
		t.Errorf("batches %v, want the first alone, and then the other six", batches)
	}
	call(8)
	calls.Wait()
	if len(batches) != 3 || !slices.Equal(batches[2], []int{8}) {
		t.Errorf("batches %v, want 8 in the third", batches)
	}
}
