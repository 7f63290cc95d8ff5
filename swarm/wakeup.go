package swarm

import (
	"context"
	"time"
)

// forever is longer than any useful wait; the look at the folders every 30 s wakes it
// anyway.
const forever = 365 * 24 * time.Hour

// wait returns when it is woken, after d, or when ctx is done.
func (w wakeup) wait(ctx context.Context, d time.Duration) {
	if d != forever {
		w.waitFor(ctx, d)
		return
	}
	select { // an idle agent holds no timer
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

// A wakeup wakes one goroutine. It holds one value, and one is enough: the goroutine then
// looks at everything.
type wakeup chan struct{}

func newWakeup() wakeup { return make(wakeup, 1) }

func (w wakeup) wake() {
	select {
	case w <- struct{}{}:
	default: // another goroutine woke it already
	}
}
