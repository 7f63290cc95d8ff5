package swarm

import (
	"context"
	"sync"
	"time"
)

// starts counts the turns that are starting, from the claim of their message until their
// client has the prompt. Work that can wait, such as that of the listeners, waits meanwhile,
// because it would compete with the start for the processor and the disk. A starts is safe for
// concurrent use, and the zero value is ready to use.
type starts struct {
	mu      sync.Mutex
	running int
	none    chan struct{} // closed when no turn is starting anymore; nil before the first turn
}

// begin counts a turn. The caller calls prompted when the client has the prompt or will not
// get one; only the first call counts.
func (s *starts) begin() (prompted func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == 0 {
		s.none = make(chan struct{})
	}
	s.running++
	return sync.OnceFunc(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running--; s.running == 0 {
			close(s.none)
		}
	})
}

// wait waits until no turn is starting, for at most the given time, or until ctx is done.
func (s *starts) wait(ctx context.Context, most time.Duration) {
	s.mu.Lock()
	starting, none := s.running > 0, s.none
	s.mu.Unlock()
	if !starting {
		return
	}
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	case <-ctx.Done():
	}
}
