package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Waits is when an agent failed last, and until when it waits for that.
func (s *Swarm) Waits(agent string) (failed, until time.Time) {
	st := s.holds.of(agent)
	if n := len(st.Failures); n > 0 {
		failed = st.Failures[n-1].At
	}
	return failed, st.Until
}

// WritePIDFile notes the client of an agent, as a turn does.
func WritePIDFile(h Home, agent string, p runner.Process, mark string) error {
	return writePIDFile(h.PIDFile(agent), p, mark)
}

// MarkedClients are the agents and marks of the clients in the pid files, by their pids.
func MarkedClients(h Home) (map[int]string, error) {
	all, err := h.markedClients()
	marks := map[int]string{}
	for pid, c := range all {
		marks[pid] = c.Agent + " " + c.mark
	}
	return marks, err
}

// Failures is how many failures of an agent are remembered.
func (s *Swarm) Failures(agent string) int { return len(s.holds.of(agent).Failures) }
