package swarm

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// StopAgent stops an agent until it is started again, even across a daemon restart.
// It returns when the running turn has ended and the agent's client is gone. If now is set,
// or once ctx is done, StopAgent ends that turn and puts its message back without counting
// a failure. If the turn still succeeds, its message is done. The Cut is the outcome of the
// turn's message, or nil if StopAgent did not end a turn.
func (or *Orders) StopAgent(ctx context.Context, agent, by string, now bool) (cut *Cut, err error) {
	m, err := or.member(agent)
	if err != nil {
		return nil, err
	}
	if err := or.steer(agent, func(st *journal.Hold) { st.Stopped = &journal.Stop{By: by, Since: time.Now().UTC()} }); err != nil {
		return nil, err
	}
	if ended := m.control.runningTurn(); ended != nil {
		if !now {
			select {
			case <-ended:
			case <-ctx.Done():
				now = true
			}
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
