package swarm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// openQuiet reads the notices that an earlier daemon kept for the end of the person's quiet
// hours. It sets a damaged file aside, because the event list contains the same facts.
func (s *Swarm) openQuiet() (err error) {
	s.notices.Quiet, err = notice.OpenQuiet(s.notices, notice.Now{Until: s.quietUntil, Grave: func() bool { return s.admission.allHeld(s.members()) }, Hold: s.holdOf, Limited: s.isLimited, Unclaimed: s.isUnclaimed})
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		s.log.Error("notices for the end of the quiet hours were damaged", keyErr, e)
		err = e.SetAside()
	}
	if err != nil {
		return fmt.Errorf("notices for the end of the quiet hours: %w", err)
	}
	return nil
}

// quietUntil returns when the person's quiet hours end, or the zero time if at is outside
// those hours.
func (s *Swarm) quietUntil(at time.Time) time.Time {
	quiet := s.Plan().Quiet
	if quiet == nil || !quiet.Open(at) {
		return time.Time{}
	}
	return quiet.Change(at)
}

// holdOf returns an agent's hold, or false if there is no such agent.
func (s *Swarm) holdOf(agent string) (journal.Hold, bool) {
	_, err := s.member(agent)
	return s.holds.Of(agent), err == nil
}

// isLimited reports whether an agent waits for the end of a limit of its account.
func (s *Swarm) isLimited(agent string) bool {
	m, err := s.member(agent)
	if err != nil {
		return false
	}
	_, _, limited := s.holds.LimitOf(s.accounts.of(m.spec()), agent, time.Now())
	return limited
}

// isUnclaimed reports whether published work still waits for an agent. If that is unknown,
// it does.
func (s *Swarm) isUnclaimed(publication string) bool {
	open, err := topic.Of(s.store).Open()
	return err != nil || slices.ContainsFunc(open, func(p topic.Publication) bool { return p.ID == publication && p.Grant == nil })
}
