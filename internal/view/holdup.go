package view

import (
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Holdup is a reason, other than its running turn, why an agent's mail waits.
type Holdup struct {
	Agent string      `json:"agent"`
	State swarm.State `json:"state"`
	Why   string      `json:"why"`
	Next  string      `json:"next"` // the next event, or the command to type
}

// HoldupOf returns the hold-up of an agent; nil for none. An agent that works is held up
// too, if it needs something for its next turn.
func HoldupOf(a swarm.AgentStatus) *Holdup {
	h := &Holdup{Agent: a.Name, State: a.State, Why: a.Why, Next: a.Next}
	switch a.State {
	case swarm.Backoff, swarm.Limited, swarm.Off, swarm.Parked, swarm.Paused, swarm.Stopped:
		return h
	case swarm.Working, swarm.Asking, swarm.Away:
		if a.Next != "" {
			return h
		}
	}
	return nil
}

// ReadsLater says that an urgent message waits for the end of the agent's running turn,
// since the client reads no mail during a turn; "" if it does not wait. The running turn
// may already be that message's.
func ReadsLater(a swarm.AgentStatus, message string) string {
	if !a.UrgentWaits || a.Message == nil || a.Message.ID == message {
		return ""
	}
	return "the client of " + a.Name + " cannot read mail during a turn: it reads this after its turn"
}

// Resting reports whether the agent cannot begin a turn now. If it can, Why names a later
// obstacle, or a missing agent.
func (h *Holdup) Resting() bool { return h.State == swarm.Backoff || h.Lasting() }

// Lasting reports whether the agent will begin no turn before a person acts, a limit ends
// or its hours begin. A pause after a failure is short.
func (h *Holdup) Lasting() bool {
	return h.State == swarm.Limited || h.State == swarm.Off || h.State == swarm.Parked || h.State == swarm.Paused || h.State == swarm.Stopped
}
