package bridge

import (
	"context"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// A loop is the goroutine that owns all of the bridge's data. Slow work runs in parallel
// and passes its results to the loop. The loop waits for all such work before it ends.
//
// A panic in parallel work becomes a panic of the loop, which ends the bridge.
type loop struct {
	ctx    context.Context // when this context is done, the loop ends
	later  chan func()     // results of the parallel work
	events chan func()     // reports from the link
	work   sync.WaitGroup

	ended chan struct{} // closed when the loop accepts no more events
	end   func()        // closes ended; may be called more than once
	gone  chan struct{} // closed when the loop runs no more results
}

func newLoop(ctx context.Context) *loop {
	l := &loop{ctx: ctx, later: make(chan func(), 64), events: make(chan func()), ended: make(chan struct{}), gone: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.ended) })
	return l
}

// do runs f in a separate goroutine. The loop then runs the function that f returns. The
// goroutine ends only after that function has returned, so the function can itself call
// do.
func (l *loop) do(f func() func()) { l.doFor(l.later, f) }

// doFor is like do, but passes the result to the loop through the given channel.
func (l *loop) doFor(results chan<- func(), f func() func()) {
	l.work.Go(func() {
		if then := guarded(f); then != nil {
			l.hand(results, then)
		}
	})
}

// guarded runs f and returns its result. If f panics, the result panics in turn, with the
// stack of f.
func guarded(f func() func()) (then func()) {
	if panicked := outbox.Caught("parallel work", func() { then = f() }); panicked != "" {
		return func() { panic(panicked) }
	}
	return then
}

// hand makes the loop run f, and returns once f has run. The goroutine that calls hand
// therefore does not end before f does, and f may start more work. If the loop has
// panicked, hand returns immediately, and f may not run.
func (l *loop) hand(results chan<- func(), f func()) {
	over := make(chan struct{})
	select {
	case results <- func() {
		defer close(over)
		f()
	}:
	case <-l.gone:
		return
	}
	select {
	case <-over:
	case <-l.gone:
	}
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

// close waits until all parallel work has ended. After a panic of the loop, the results of
// that work are lost.
func (l *loop) close() {
	l.end()
	close(l.gone)
	l.work.Wait()
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
