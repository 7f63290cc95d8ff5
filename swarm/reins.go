package swarm

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// reins are how others steer an agent: its settings, and the running turn to
// end. They are safe for several goroutines.
type reins struct {
	mu      sync.Mutex
	spec    Spec
	end     context.CancelCauseFunc // ends the running turn; nil when none runs
	current *record                 // of the running turn; its fields do not change once it is here
	past    []pastTurn              // those before, the newest last, at most maxPastTurns
	client  *tenancy                // the client that works, or waits; nil when there is none
	message string                  // of the running turn, or of the last one
	ended   chan struct{}           // closed when the running turn has ended
	cut     *Cut                    // what became of its message, complete once ended is closed
	ender   string                  // who aborted or interrupted the running turn
	wrote   map[string]time.Time    // files of its own that the agent's turns wrote into the mailbox folder
}

// A tenancy is the time of one client with its agent.
type tenancy struct {
	mark string
	gone chan struct{} // closed when nothing of it runs any more
}

// takeReins lets others end the turn that begins.
func (a *agent) takeReins(message string, end context.CancelCauseFunc) {
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	a.reins.message, a.reins.end, a.reins.ended = message, end, make(chan struct{})
	a.reins.cut = &Cut{Message: message, State: dropbox.Waiting}
}

// nowRuns says which attempt runs: what the agent drops by hand inherits from
// it.
func (a *agent) nowRuns(rec *record) {
	copied := *rec
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	a.reins.current = &copied
}

// turn is the attempt that runs; "" when none does.
func (a *agent) turn() string {
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	if a.reins.current == nil {
		return ""
	}
	return a.reins.current.Turn
}

// hasRun says that the client of the attempt has ended, or waits.
func (a *agent) hasRun() {
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	if r := &a.reins; r.current != nil {
		if len(r.past) >= maxPastTurns {
			r.past = slices.Delete(r.past, 0, 1)
		}
		r.past = append(r.past, pastTurn{r.current, time.Now()})
	}
	a.reins.current = nil
}

// hasClient says which client the agent has, by its mark; "" says that nothing of
// it runs any more.
func (a *agent) hasClient(mark string) {
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	if c := a.reins.client; c != nil {
		if c.mark == mark {
			return
		}
		close(c.gone)
	}
	a.reins.client = nil
	if mark != "" {
		a.reins.client = &tenancy{mark, make(chan struct{})}
	}
}

// clientGone is closed when nothing of the agent's client runs any more; nil when it
// has none.
func (a *agent) clientGone() <-chan struct{} {
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	if a.reins.client == nil {
		return nil
	}
	return a.reins.client.gone
}

func (a *agent) dropReins() {
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	close(a.reins.ended)
	a.reins.end, a.reins.current, a.reins.ended, a.reins.cut = nil, nil, nil, nil
}
