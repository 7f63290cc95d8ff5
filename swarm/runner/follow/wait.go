package follow

import (
	"iter"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// woken contains the signals that end a wait for more output.
type woken struct {
	poll  poller
	rung  bool          // new messages may have arrived since the last call to Messages
	extra chan struct{} // signaled by Wake
}

// Wake makes the turn's goroutine call [Protocol.Tick] soon. Wake can be called from any
// goroutine, even after the turn.
func (r *Run) Wake() {
	select {
	case r.woken.extra <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// Messages returns the messages for the running turn that have arrived since the last call.
// It returns each message only once, so the caller must send it.
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

// wait blocks until the file should be read again, and reports whether the client may
// still write to it.
func (r *Run) wait() bool {
	if r.process == nil {
		return false
	}
	timer := r.woken.poll.next(r.due())
	stop := r.ctx.Done()
	if r.ladder.Begun() || r.Stopped() {
		stop = nil // already known
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
			r.turn.Grown = nil // there are no more notifications, so poll instead
		}
		r.woken.poll.reset()
	case <-timer:
	case <-stop:
	}
	r.tick(time.Now())
	return true
}

// due returns when the next action is due even if the client prints nothing.
func (r *Run) due() time.Time {
	closing := r.over.closing
	if r.ladder.Begun() {
		closing = time.Time{} // the ladder's due time applies instead
	}
	var due time.Time
	for _, at := range []time.Time{r.ladder.Due(), closing, r.protocol.Due()} {
		if !at.IsZero() && (due.IsZero() || at.Before(due)) {
			due = at
		}
	}
	return due
}
