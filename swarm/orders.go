package swarm

import (
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A person can clear or compact the memory of an agent's client, and so can the agent
// itself, though not within a turn: the turn is part of the memory. The order is kept in
// state.json, and carried out before the next message:
//
//	clear     the next message begins a fresh session, without the window, and
//	          with the handoff if there is one
//	compact   a separate turn, in which the client sums its conversation up; the
//	          window comes back as after any compaction

// ErrCannotCompact says that the client of an agent does not compact when it is
// told to.
var ErrCannotCompact = errors.New("its client does not compact when it is told to")

// Clear makes an agent's next message begin a fresh session. The error is an
// [*AttachedError] where a person runs it.
func (s *Swarm) Clear(agent, by string) error { return s.order(agent, journal.OrderClear, by) }

// Compact makes an agent's client summarize its conversation before the next message.
// The error is [ErrCannotCompact] where it cannot, and an [*AttachedError] where a
// person runs it.
func (s *Swarm) Compact(agent, by string) error {
	m, err := s.member(agent)
	if err != nil {
		return err
	}
	if _, ok := m.turns.Backend(m.settings()).(runner.Compacter); !ok && !m.control.attached() {
		return fmt.Errorf("%s: %w", agent, ErrCannotCompact)
	}
	return s.order(agent, journal.OrderCompact, by)
}

func (s *Swarm) order(agent, what, by string) error {
	if m, err := s.member(agent); err != nil {
		return err
	} else if m.control.attached() {
		return &AttachedError{Name: agent} // no agent would carry it out
	}
	return s.steer(agent, func(st *journal.Hold) {
		if st.Order == nil || st.Order.What != journal.OrderClear { // a cleared session need not be compacted
			st.Order = &journal.Order{What: what, By: by, Since: time.Now().UTC()}
		}
	})
}

// ToBeCompacted reports whether the context of an agent is still to be compacted. It reads
// the files of a project without a daemon.
func ToBeCompacted(home journal.Home, agent string) (bool, error) {
	st, err := journal.OpenHolds(home)
	if err != nil {
		return false, err
	}
	o := st.Of(agent).Order
	return o != nil && o.What == journal.OrderCompact, nil
}
