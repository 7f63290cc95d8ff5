package swarm

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A LaterError says that an agent is told to stop, but that its turn waits for the end
// of the turn that asked: who asks does not wait for it.
type LaterError struct{ Name string }

func (e *LaterError) Error() string {
	return e.Name + " stops when its turn has ended, which waits for the end of the turn that asks"
}

// StopAgent stops an agent until it is started again, also by a later daemon.
// It returns when the running turn has ended and its client is gone; with now, or
// when ctx is done, that turn is ended, and its message put back with nothing
// counted. A turn whose good result comes anyway is done; the Cut says what became
// of the message of a turn that was to be ended, nil where none was. Where by is an agent
// for whose turn the turn of the other waits, it returns at once with a [*LaterError], and
// the other stops anyway.
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
			<-ended // nobody writes the cut any more
		}
	}
	if gone := m.turns.Runs.ClientGone(); gone != nil {
		select { // it has no work to end, so it is waited for as long as the caller likes
		case <-gone:
		case <-ctx.Done():
		}
	}
	return cut, nil
}

// turnOf is closed when the turn that runs now of somebody has ended; nil for a
// person, and for an agent without a turn.
func (s *Swarm) turnOf(name string) <-chan struct{} {
	m, err := s.member(name)
	if err != nil {
		return nil
	}
	return m.control.runningTurn()
}
