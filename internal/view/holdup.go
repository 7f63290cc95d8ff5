package view

import (
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Holdup is a reason, other than a running turn, why an agent's mail is waiting.
type Holdup struct {
	Agent string      `json:"agent"`
	State swarm.State `json:"state"`
	Why   string      `json:"why"`
	Next  string      `json:"next"` // what happens next, or the command to type
}

// HoldupOf returns an agent's hold-up, or nil if nothing holds up its mail. A working
// agent also has a hold-up if something prevents its next turn.
func HoldupOf(a swarm.AgentStatus) *Holdup {
	switch a.State {
	case swarm.Working, swarm.Asking, swarm.Away:
		if a.Next == "" {
			return nil
		}
	default:
		if !a.State.Resting() {
			return nil
		}
	}
	return &Holdup{Agent: a.Name, State: a.State, Why: a.Why, Next: a.Next}
}

// ReadsLater returns a sentence stating that an urgent message must wait until the end of
// the agent's current turn, because the client cannot read mail during a turn. It returns
// "" if the message does not have to wait, for example because it is the message of the
// current turn.
func ReadsLater(a swarm.AgentStatus, message string) string {
	if !a.UrgentWaits || a.Message == nil || a.Message.ID == message {
		return ""
	}
	return "the client of " + a.Name + " cannot read mail during a turn: it will read this after its turn"
}

// Resting reports whether the agent's state prevents it from starting a turn now. In other
// states, Why describes an obstacle to its next turn, or the missing answer or session.
func (h *Holdup) Resting() bool { return h.State.Resting() }

// Lasting reports whether the agent will not start a turn until a person acts, a limit
// ends or its work hours begin. A backoff after a failure does not count, because it is
// short.
func (h *Holdup) Lasting() bool { return h.State.Lasting() }
