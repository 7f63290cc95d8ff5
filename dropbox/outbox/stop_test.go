package outbox_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// A worker that stops lets its attempts end. After its patience it ends them, too, and puts
// their messages back, uncounted.
func TestStopInTheMiddle(t *testing.T) {
	world := newWorld(t)
	synctest.Test(t, func(t *testing.T) {
		wk, end := world.start(nil, alive)
		defer end()
		stop, cancel := context.WithCancel(t.Context())
		kill, done := outbox.Patience(stop, 3*time.Second)
		defer done()
		var attempts sync.WaitGroup
		for i, a := range wk.beginAll() {
			attempts.Go(func() {
				step := func() error { return a.File(kill, []byte("receipt\n")) }
				select {
				case <-time.After(time.Duration(i) * 10 * time.Second):
				case <-kill.Done():
					step = func() error { return a.PutBack(false) }
				}
				if err := step(); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(18 * time.Second) // the first two have ended, and the third ends 2 s later
		cancel()
		if kill.Err() != nil {
			t.Error("the attempts have no time to end")
		}
		told := time.Now()
		attempts.Wait()
		if took := time.Since(told); took != 3*time.Second {
			t.Errorf("the stop took %v, want 3 s", took)
		}
	})
	if done, waits := world.count(dropbox.Done), world.count(dropbox.Waiting); done != 3 || waits != 3 {
		t.Errorf("%d done, %d waiting; want 3 of each", done, waits)
	}
}

// The context of the attempts ends with the worker, even if nobody told it to stop.
func TestPatienceEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop, cancel := context.WithCancel(t.Context())
		kill, end := outbox.Patience(stop, time.Second)
		end()
		if kill.Err() == nil {
			t.Error("the context goes on after end")
		}
		cancel()
	})
}
