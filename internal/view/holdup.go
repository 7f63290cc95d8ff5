package view

import (
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Holdup is why the mail of an agent waits for something other than its turn.
type Holdup struct {
	Agent string      `json:"agent"`
	State swarm.State `json:"state"`
	Why   string      `json:"why"`
	Next  string      `json:"next"` // what happens next, or what to type
}

// HoldupOf is what holds up an agent; nil when nothing does. An agent that works is held
// up too, where it needs something for what comes next.
func HoldupOf(a swarm.AgentStatus) *Holdup {
	h := &Holdup{Agent: a.Name, State: a.State, Why: a.Why, Next: a.Next}
	switch a.State {
	case swarm.Backoff, swarm.Limited, swarm.Paused, swarm.Stopped:
		return h
	case swarm.Working, swarm.Asking, swarm.Away:
		if a.Next != "" {
			return h
		}
	}
	return nil
}

// Resting tells whether the agent begins no turn meanwhile. Else Why says what will hold
// it up, or who is missing.
func (h *Holdup) Resting() bool { return h.State == swarm.Backoff || h.Lasting() }

// Lasting tells whether the agent begins no turn before somebody lets it, or before a
// limit ends. A pause after a failure is short.
func (h *Holdup) Lasting() bool {
	return h.State == swarm.Limited || h.State == swarm.Paused || h.State == swarm.Stopped
}
