package bridge

import (
	"context"
	"sync"
)

// A loop is the goroutine that owns all of the bridge's data. Slow work runs in parallel
// and passes its results to the loop. The loop waits for all such work before it ends.
type loop struct {
	ctx    context.Context // when this context is done, the loop ends
	later  chan func()     // results of the parallel work
	events chan func()     // reports from the link
	ended  chan struct{}   // closed when the loop accepts no more events
	work   sync.WaitGroup
}

func newLoop(ctx context.Context) *loop {
	return &loop{ctx: ctx, later: make(chan func(), 64), events: make(chan func()), ended: make(chan struct{})}
}

// do runs f in a separate goroutine. The loop then runs the function that f returns. The
// goroutine ends only after that function has returned, so the function can itself call
// do.
func (l *loop) do(f func() func()) {
	l.work.Go(func() {
		if then := f(); then != nil {
			hand(l.later, then)
		}
	})
}

// hand makes the loop run f, and returns once f has run. The goroutine that calls hand
// therefore does not end before f does, and f may start more work.
func hand(loop chan<- func(), f func()) {
	over := make(chan struct{})
	loop <- func() {
		defer close(over)
		f()
	}
	<-over
}

// event passes an event from the link to the loop. It returns true when the loop accepts
// the event, and false if the loop accepts no more events.
func (l *loop) event(f func()) bool {
	select {
	case l.events <- f:
		return true
	case <-l.ended:
		return false
	}
}

// catchUp runs the functions that are waiting for the loop, so that the next claims take
// all results into account.
func (l *loop) catchUp() {
	for range cap(l.later) {
		select {
		case f := <-l.later:
			f()
		default:
			return
		}
	}
}
