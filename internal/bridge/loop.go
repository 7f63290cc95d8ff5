package bridge

import (
	"context"
	"sync"
)

// A loop is the goroutine to which everything of the bridge belongs, and what runs beside
// it: that hands its results in, and at the end the loop waits for it.
type loop struct {
	ctx    context.Context // done is the order to end
	later  chan func()     // results of the work beside the loop
	events chan func()     // what the link has to tell
	ended  chan struct{}   // closed when the loop takes no more events
	work   sync.WaitGroup
}

func newLoop(ctx context.Context) *loop {
	return &loop{ctx: ctx, later: make(chan func(), 64), events: make(chan func()), ended: make(chan struct{})}
}

// do runs f in a separate goroutine; what f returns is run by the loop. The work is
// over after that, so what it returns may call do.
func (l *loop) do(f func() func()) {
	l.work.Go(func() {
		if then := f(); then != nil {
			hand(l.later, then)
		}
	})
}

// hand lets the loop run f, and returns after that. Anyone who is part of the work hands in
// what may make more work in this way: while it runs, the work is not over.
func hand(loop chan<- func(), f func()) {
	over := make(chan struct{})
	loop <- func() {
		defer close(over)
		f()
	}
	<-over
}

// event hands in what the link has to tell. It returns when the loop has taken it, and
// false when the loop takes no more.
func (l *loop) event(f func()) bool {
	select {
	case l.events <- f:
		return true
	case <-l.ended:
		return false
	}
}

// catchUp runs what others have handed in already, so that all of it is known before
// the next messages are claimed: those are claimed together.
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
