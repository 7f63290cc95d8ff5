package view

import (
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Holdup is a reason why an agent's mail waits, other than the agent's running turn.
type Holdup struct {
	Agent string      `json:"agent"`
	State swarm.State `json:"state"`
	Why   string      `json:"why"`
	Next  string      `json:"next"` // the next event, or the command to type
}

// HoldupOf returns the hold-up of an agent, or nil if nothing holds up its mail. A working
// agent also has a hold-up if something prevents its next turn.
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

// ReadsLater says that an urgent message waits until the agent's running turn ends,
// because the client reads no mail during a turn. It returns "" if the message does not
// wait, for example because the running turn is already the turn of that message.
func ReadsLater(a swarm.AgentStatus, message string) string {
	if !a.UrgentWaits || a.Message == nil || a.Message.ID == message {
		return ""
	}
	return "the client of " + a.Name + " cannot read mail during a turn: it reads this after its turn"
}

// Resting reports whether the agent's state keeps it from beginning a turn now. In other
// states, Why names an obstacle to its next turn, or the answer or session that is missing.
func (h *Holdup) Resting() bool { return h.State == swarm.Backoff || h.Lasting() }

// Lasting reports whether the agent will begin no turn before a person acts, a limit ends
// or its hours begin. A pause after a failure is short.
func (h *Holdup) Lasting() bool {
	return h.State == swarm.Limited || h.State == swarm.Off || h.State == swarm.Parked || h.State == swarm.Paused || h.State == swarm.Stopped
}
