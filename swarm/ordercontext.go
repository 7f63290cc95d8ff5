package swarm

import (
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A person or the agent itself can order the daemon to clear or compact the context of
// the agent's client. The order is not carried out within a turn, because the turn is
// part of the context. It is kept in state.json and carried out before the next message:
//
//	clear     the next message begins a fresh session, without the window, and
//	          with the handoff if there is one
//	compact   a separate turn, in which the client summarizes its conversation; the
//	          window comes back as after any compaction

// ErrCannotCompact reports that an agent's client does not support an order to compact.
var ErrCannotCompact = errors.New("its client does not support compaction on request")

// Clear makes an agent begin a fresh session with its next message. The error is an
// [*AttachedError] if a person is running the agent's session.
func (or *Orders) Clear(agent, by string) error { return or.order(agent, journal.OrderClear, by) }

// Compact makes an agent's client summarize its conversation before the next message. The
// error is [ErrCannotCompact] if the client cannot do that, and an [*AttachedError] if a
// person is running the agent's session.
func (or *Orders) Compact(agent, by string) error {
	m, err := or.member(agent)
	if err != nil {
		return err
	}
	if _, ok := m.turns.Backend(m.client.settings()).(runner.Compacter); !ok && !m.control.attached() {
		return fmt.Errorf("%s: %w", agent, ErrCannotCompact)
	}
	return or.order(agent, journal.OrderCompact, by)
}

func (or *Orders) order(agent, what, by string) error {
	if m, err := or.member(agent); err != nil {
		return err
	} else if m.control.attached() {
		return &AttachedError{Name: agent} // no part of the daemon would carry out the order
	}
	return or.steer(agent, func(st *journal.Hold) {
		if st.Order == nil || st.Order.What != journal.OrderClear { // a cleared session does not need compaction
			st.Order = &journal.Order{What: what, By: by, Since: time.Now().UTC()}
		}
	})
}

// ToBeCompacted reports whether an order to compact an agent's context is pending. It
// reads the project's files, so it needs no daemon.
func ToBeCompacted(home journal.Home, agent string) (bool, error) {
	st, err := journal.OpenHolds(home)
	if err != nil {
		return false, err
	}
	o := st.Of(agent).Order
	return o != nil && o.What == journal.OrderCompact, nil
}
