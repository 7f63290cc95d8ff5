package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A PersonError says that only a person may resume an agent.
type PersonError struct{ Name string }

func (e *PersonError) Error() string {
	return "an agent cannot let " + e.Name + " go on: a person holds it, it began too many turns without one, it is stuck, or it is outside its hours"
}

// forPerson reports whether only a person may end the hold of an agent: a person ordered it,
// or the bound on turns did.
func (s *Swarm) forPerson(st journal.Hold) bool {
	ordered := func(by string) bool { return by != dropbox.Swarm && s.fromPerson(by) }
	return st.Paused != nil && (st.Paused.Turns || st.Paused.Stuck != nil || ordered(st.Paused.By)) || st.Stopped != nil && ordered(st.Stopped.By)
}

// fromPerson reports whether an order comes from a person. Orders of agents have their names:
// the control socket finds out who calls.
func (s *Swarm) fromPerson(by string) bool {
	_, err := s.member(by)
	return err != nil
}

// word resets the count of an agent's turns after an order of a person, also for the next
// daemon.
func (s *Swarm) word(agent, by string, st *journal.Hold) {
	if !s.fromPerson(by) {
		return
	}
	if s.counts.Word(agent) || st.Paused != nil && st.Paused.Turns {
		st.Word = time.Now().UTC()
	}
}
