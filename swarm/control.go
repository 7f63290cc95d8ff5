package swarm

import (
	"cmp"
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
)

// control lets other goroutines steer an agent: they can change its settings and end the
// running turn. It is safe for concurrent use.
type control struct {
	mu      sync.Mutex
	spec    Spec
	end     context.CancelCauseFunc // ends the running turn; nil if no turn is running
	message string                  // id of the running turn's message, or of the last turn's
	ended   chan struct{}           // closed when the running turn has ended
	cut     *Cut                    // the outcome of the running turn's message, complete once ended is closed
	ender   string                  // who aborted or interrupted the running turn
	order   error                   // the first order to end the running turn: errAborted or errInterrupted; nil if there was none
	overrun *time.Timer             // interrupts the running turn if its agent is stuck; nil if nothing is planned
	given   []chan Cut              // one for each goroutine that is waiting for a message to be given up
}

// turnBegins lets other goroutines end the turn that is beginning.
func (c *control) turnBegins(message string, end context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.message, c.end, c.ended, c.ender, c.order = message, end, make(chan struct{}), "", nil
	c.cut = &Cut{Message: message, State: dropbox.Waiting}
}

// turnEnded tells waiting goroutines that the turn has ended. The parameter state is the
// outcome of the turn's message if [control.comesTo] was not called.
func (c *control) turnEnded(state dropbox.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut.State == dropbox.Waiting {
		c.cut.State = state
	}
	if c.overrun != nil {
		c.overrun.Stop()
		c.overrun = nil
	}
	close(c.ended)
	c.end, c.ended, c.cut = nil, nil, nil
}

// comesTo records the outcome of the running turn's message.
func (c *control) comesTo(state dropbox.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut != nil {
		c.cut.State = state
	}
}

// givesUp returns a channel that receives the outcome of the next message that is given up.
func (c *control) givesUp() <-chan Cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	given := make(chan Cut, 1)
	c.given = append(c.given, given)
	return given
}

// gaveUp tells the waiting goroutines that a message was given up.
func (c *control) gaveUp(cut Cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, given := range c.given {
		given <- cut
	}
	c.given = nil
}

// endedBy returns the name of the agent or person who aborted or interrupted the turn.
func (c *control) endedBy() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.ender, dropbox.Lead)
}

// runningTurn returns a channel that is closed when the running turn has ended, or nil if
// no turn is running.
func (c *control) runningTurn() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// endTurn ends the running turn, and returns its Cut, which is complete once the turn has
// ended. The result is nil if no turn is running.
func (c *control) endTurn(why error) *Cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		return nil
	}
	c.end(why)
	return c.cut
}

// cutShort ends the running turn, unless except is the id of the turn's message. The
// parameter by is the name of the agent or person who gave the order. The Cut is complete
// once ended is closed. If there is no turn to end, ok is false.
func (c *control) cutShort(by, except string, why error) (ended <-chan struct{}, cut *Cut, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil || except != "" && c.message == except {
		return nil, nil, false
	}
	c.ender = cmp.Or(c.ender, by) // the first order ends the turn
	if c.order == nil {
		c.order = why
	}
	c.end(why)
	return c.ended, c.cut, true
}

// settings returns the settings of the next turn.
func (c *control) settings() Spec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spec
}

// hours returns the agent's work hours. Like attached, it copies no Spec.
func (c *control) hours() hours.Hours {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spec.Hours
}

// heartbeat returns the agent's heartbeat. Like attached, it copies no Spec.
func (c *control) heartbeat() Heartbeat {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spec.Heartbeat
}

// attached reports whether a person's attached session handles the agent's mail. It copies
// no Spec, because a copy would double the stack of every idle agent.
func (c *control) attached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spec.Attached
}

// set gives the agent new settings, which apply from its next turn on. It reports whether
// they differ from the previous settings.
func (c *control) set(to Spec) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reflect.DeepEqual(c.spec, to) {
		return false
	}
	c.spec = to
	return true
}

// A Cut is the outcome of a message whose turn was stopped by an order. A turn that
// compacts the context has no message; its Cut is the outcome of the compaction.
type Cut struct {
	Message string `json:"message"` // id of the message, or ""
	// State is [dropbox.Done] if the turn finished before it could be stopped,
	// [dropbox.Dead] if its message is given up, and [dropbox.Waiting] if it waits again.
	// It is [dropbox.Claimed] if a file could not be written, for example because the disk
	// is full; the daemon tries again.
	State dropbox.State `json:"state"`
}
