package swarm

import (
	"time"
)

// Waits is when an agent failed last, and until when it waits for that.
func (s *Swarm) Waits(agent string) (failed, until time.Time) {
	st := s.holds.Of(agent)
	if n := len(st.Failures); n > 0 {
		failed = st.Failures[n-1].At
	}
	return failed, st.Until
}

// Failures is how many failures of an agent are remembered.
func (s *Swarm) Failures(agent string) int { return len(s.holds.Of(agent).Failures) }
