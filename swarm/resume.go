package swarm

import (
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// ErrNotPaused says that nothing keeps an agent from its mail, so that there was nothing
// to end.
var ErrNotPaused = errors.New("was not paused")

// Resume lets a paused agent go on, and one that waits after a failure or for
// its usage limit try at once. Where nothing kept the agent from its mail the error is
// [ErrNotPaused]. One that is stopped stays so, with a [*StoppedError]:
// see [Swarm.StartAgent]. One that a person paused, or that began too many turns, goes on
// by the word of a person alone: to an agent it is a [*PersonError].
func (s *Swarm) Resume(agent, by string) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	if s.holds.Of(agent).Stopped != nil {
		return &StoppedError{Name: agent}
	}
	if !s.fromPerson(by) && s.forPerson(s.holds.Of(agent)) {
		return &PersonError{Name: agent}
	}
	now := time.Now()
	_, _, held := s.holds.LimitOf(m.account(), agent, now)
	if err := s.holds.LiftLimit(m.account(), now); err != nil {
		return err
	}
	s.wakeAccount(m.account())
	err = s.steer(agent, func(st *journal.Hold) {
		held = held || st.Paused.Holds(now) || st.Until.After(now)
		s.word(agent, by, st)
		st.Paused, st.Until, st.Why = nil, time.Time{}, ""
	})
	if err == nil && !held {
		return fmt.Errorf("%s %w", agent, ErrNotPaused)
	}
	return err
}
