package swarm

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A LaterError reports that an agent will stop later. The agent's turn is waiting for the
// turn that gave the order, so the order does not wait for the stop.
type LaterError struct{ Name string }

func (e *LaterError) Error() string {
	return e.Name + " stops when its turn has ended, but that turn is waiting for the turn that gave the order"
}

// StopAgent stops an agent until it is started again, even across a daemon restart.
// It returns when the running turn has ended and the agent's client is gone. If now is set,
// or once ctx is done, StopAgent ends that turn and puts its message back without counting
// a failure. If the turn still succeeds, its message is done. The Cut is the outcome of the
// turn's message, or nil if StopAgent did not end a turn. If the agent's turn is waiting
// for a turn of the agent that gave the order (by), StopAgent returns immediately with a
// [*LaterError], and the agent stops when its turn ends.
func (s *Swarm) StopAgent(ctx context.Context, agent, by string, now bool) (cut *Cut, err error) {
	m, err := s.member(agent)
	if err != nil {
		return nil, err
	}
	if err := s.steer(agent, func(st *journal.Hold) { st.Stopped = &journal.Stop{By: by, Since: time.Now().UTC()} }); err != nil {
		return nil, err
	}
	if ended := m.control.runningTurn(); ended != nil {
		if !now {
			done, ok := s.waits.begin(by, s.turnOf(by), agent)
			if !ok {
				return nil, &LaterError{Name: agent}
			}
			select {
			case <-ended:
			case <-ctx.Done():
				now = true
			}
			done()
		}
		if now {
			cut = m.control.endTurn(errStopping)
			<-ended // no goroutine writes to the Cut after this
		}
	}
	if gone := m.turns.Runs.ClientGone(); gone != nil {
		select { // the client has no turn to end, so only ctx limits the wait
		case <-gone:
		case <-ctx.Done():
		}
	}
	return cut, nil
}

// turnOf returns a channel that is closed when the running turn of an agent has ended, or
// nil for a person or for an agent without a turn.
func (s *Swarm) turnOf(name string) <-chan struct{} {
	m, err := s.member(name)
	if err != nil {
		return nil
	}
	return m.control.runningTurn()
}
