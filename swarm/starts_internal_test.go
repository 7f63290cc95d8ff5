package swarm

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Listeners wait until no turn is starting, but never longer than they have to.
func TestATurnThatStartsGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s starts
		waits := func() time.Duration {
			began := time.Now()
			s.wait(t.Context(), startFirst)
			return time.Since(began)
		}
		if d := waits(); d != 0 {
			t.Errorf("before the first turn, it waits for %v", d)
		}
		one, other := s.begin(), s.begin()
		time.AfterFunc(10*time.Millisecond, one)
		time.AfterFunc(20*time.Millisecond, one) // the client had the prompt, and now the turn has ended
		time.AfterFunc(30*time.Millisecond, other)
		if d := waits(); d != 30*time.Millisecond {
			t.Errorf("with two turns, it waits for %v, want 30ms", d)
		}
		if d := waits(); d != 0 {
			t.Errorf("after the turns, it waits for %v", d)
		}
		hangs := s.begin()
		defer hangs()
		if d := waits(); d != startFirst {
			t.Errorf("with a turn that hangs, it waits for %v, want %v", d, startFirst)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		began := time.Now()
		if s.wait(ctx, time.Hour); time.Since(began) != 0 {
			t.Errorf("while the daemon ends, it waits for %v", time.Since(began))
		}
	})
}
