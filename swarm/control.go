package swarm

import (
	"cmp"
	"context"
	"reflect"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
)

// control lets other goroutines steer an agent: change its settings, and end the running
// turn. It is safe for several goroutines.
type control struct {
	mu      sync.Mutex
	spec    Spec
	end     context.CancelCauseFunc // ends the running turn; nil when none runs
	message string                  // that of the running turn, or of the last one
	ended   chan struct{}           // closed when the running turn has ended
	cut     *Cut                    // the outcome of its message, complete once ended is closed
	ender   string                  // who aborted or interrupted the running turn
}

// turnBegins lets other goroutines end the turn that begins.
func (c *control) turnBegins(message string, end context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.message, c.end, c.ended = message, end, make(chan struct{})
	c.cut = &Cut{Message: message, State: dropbox.Waiting}
}

// turnEnded tells waiting goroutines that the turn has ended.
func (c *control) turnEnded() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.ended)
	c.end, c.ended, c.cut = nil, nil, nil
}

// comesTo notes the outcome of the message of the running turn.
func (c *control) comesTo(state dropbox.State) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut != nil {
		c.cut.State = state
	}
}

// endedBy says who aborted or interrupted the turn.
func (c *control) endedBy() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.ender, dropbox.Lead)
}

// runningTurn is closed when the turn that runs now has ended; nil when none
// runs.
func (c *control) runningTurn() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ended
}

// endTurn ends the running turn, and returns the Cut that is complete when the turn has
// ended; nil when no turn runs.
func (c *control) endTurn(why error) *Cut {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil {
		return nil
	}
	c.end(why)
	return c.cut
}

// cutShort ends the running turn by order of by, unless the turn is about the message
// except. cut is complete once ended is closed. The result is false when there is no turn
// to end.
func (c *control) cutShort(by, except string, why error) (ended <-chan struct{}, cut *Cut, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil || except != "" && c.message == except {
		return nil, nil, false
	}
	c.ender = by
	c.end(why)
	return c.ended, c.cut, true
}

// settings are the settings of the next turn.
func (c *control) settings() Spec {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spec
}

// hours are the work hours of the agent. It copies no Spec, as attached.
func (c *control) hours() hours.Hours {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spec.Hours
}

// attached reports whether a person's session is the agent. It copies no Spec: that would
// double the stack of every idle agent.
func (c *control) attached() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spec.Attached
}

// set gives the agent new settings, from its next turn on. It reports whether they differ.
func (c *control) set(to Spec) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reflect.DeepEqual(c.spec, to) {
		return false
	}
	c.spec = to
	return true
}

// A Cut is the outcome of a message whose turn was ended by an order. A turn that compacts
// the context has no message; its Cut is the outcome of the compaction.
type Cut struct {
	Message string `json:"message"` // its id; "" is none
	// State is [dropbox.Done] where the turn ended well before it could be ended,
	// [dropbox.Dead] where its message is given up, [dropbox.Waiting] where it waits again.
	State dropbox.State `json:"state"`
}
