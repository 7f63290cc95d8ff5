package follow

import (
	"iter"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// woken is what ends a wait for more output.
type woken struct {
	poll  poller
	rung  bool          // a message may be there to bring, and nobody has asked since
	extra chan struct{} // of Wake
}

// Wake has the protocol looked at soon: [Protocol.Tick] is called in the goroutine of the
// turn. Any goroutine may call it, also after the turn.
func (r *Run) Wake() {
	select {
	case r.woken.extra <- struct{}{}:
	default: // somebody did already
	}
}

// Messages are those that have come for the running turn since the last call. Each of them
// is given out once, so it has to be sent.
func (r *Run) Messages() iter.Seq[runner.Steer] {
	return func(yield func(runner.Steer) bool) {
		h := r.turn.Steering
		if h == nil || !r.woken.rung {
			return
		}
		for {
			s, ok := h.Next()
			if !ok {
				r.woken.rung = false
				return
			}
			if !yield(s) {
				return
			}
		}
	}
}

// wait blocks until it is worth looking at the file again, and reports whether
// the client may still write to it.
func (r *Run) wait() bool {
	if r.process == nil {
		return false
	}
	timer := r.woken.poll.next(r.due())
	stop := r.ctx.Done()
	if r.ladder.Begun() || r.Stopped() {
		stop = nil // known already
	}
	var bell <-chan struct{}
	if r.turn.Steering != nil {
		bell = r.turn.Steering.Wake
	}
	select {
	case <-r.process.Exited():
		return false
	case <-bell:
		r.woken.rung = true
	case <-r.woken.extra:
	case _, open := <-r.turn.Grown:
		if !open {
			r.turn.Grown = nil // nobody rings any more: look by ourselves
		}
		r.woken.poll.reset()
	case <-timer:
	case <-stop:
	}
	r.tick(time.Now())
	return true
}

// due is when the next step is to be done, though nothing is printed.
func (r *Run) due() time.Time {
	closing := r.over.closing
	if r.ladder.Begun() {
		closing = time.Time{} // the ladder knows its own times
	}
	var due time.Time
	for _, at := range []time.Time{r.ladder.Due(), closing, r.protocol.Due()} {
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}
