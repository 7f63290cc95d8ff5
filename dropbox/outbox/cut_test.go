package outbox_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// everyStep is how many cuts a short run leaves out between two that it makes.
func everyStep() int {
	if testing.Short() {
		return 10
	}
	return 1
}

// A worker that dies before any change to the disk loses no message. Its successor tries a
// message again only if no receipt and no reason on disk proves the outcome.
func TestADeathBeforeEachStep(t *testing.T) {
	first := newWorld(t)
	for n := int64(1); ; n += int64(everyStep()) {
		w := first.again(t)
		var steps atomic.Int64
		wk, end := w.start(func(dropbox.Step) error {
			if steps.Add(1) >= n {
				return errNoSpace // the process is dead: nothing changes any more
			}
			return nil
		}, func() bool { return steps.Load() >= n })
		wk.work()
		end()
		over := steps.Load() < n
		before, tried := w.stages(), map[string]int{}
		for body, count := range w.tries {
			tried[body] = count
		}
		for body := range planned {
			if len(before[body].states) != 1 {
				t.Fatalf("cut %d: %q is %v, want one file", n, body, before[body].states)
			}
		}

		wk, end = w.start(nil, func() bool { return false })
		wk.work()
		end()
		w.check("after the cut")
		for body, plan := range planned {
			switch more := w.tries[body] - tried[body]; {
			case before[body].settled() && more > 0:
				t.Errorf("cut %d: %q was tried again, although it was %+v", n, body, before[body])
			case w.tries[body] < plan || w.tries[body] > plan+1:
				t.Errorf("cut %d: %q was tried %d times, %d of them after the cut; want %d, or one more", n, body, w.tries[body], more, plan)
			}
		}
		if t.Failed() {
			t.Fatalf("cut %d", n)
		}
		if over {
			t.Logf("%d cuts", n-1)
			break
		}
	}
}

// A disk that refuses one change, or some changes in a row, costs no attempt: the step is
// repeated, and the message is not tried again.
func TestARefusalAtEachStep(t *testing.T) {
	first := newWorld(t)
	for _, row := range []int64{1, 4} {
		for n, over := int64(1), false; !over; n += int64(everyStep()) {
			synctest.Test(t, func(t *testing.T) {
				w := first.again(t)
				var steps atomic.Int64
				wk, end := w.start(func(dropbox.Step) error {
					if at := steps.Add(1); at >= n && at < n+row {
						return errNoSpace
					}
					return nil
				}, func() bool { return false })
				wk.work()
				end()
				w.check("after the refusal")
				for body, plan := range planned {
					if w.tries[body] != plan {
						t.Errorf("%q was tried %d times, want %d", body, w.tries[body], plan)
					}
				}
				over = steps.Load() < n
			})
			if t.Failed() {
				t.Fatalf("%d steps refused from step %d on", row, n)
			}
		}
	}
}
