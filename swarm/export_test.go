package swarm

import (
	"time"
)

// Waits returns the time of an agent's last failure, and the end of its wait.
func (s *Swarm) Waits(agent string) (failed, until time.Time) {
	st := s.holds.Of(agent)
	if n := len(st.Failures); n > 0 {
		failed = st.Failures[n-1].At
	}
	return failed, st.Until
}

// Failures returns the number of remembered failures of an agent.
func (s *Swarm) Failures(agent string) int { return len(s.holds.Of(agent).Failures) }
