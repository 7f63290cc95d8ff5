package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// tellLead tells the lead something about this agent.
func (a *agent) tellLead(key, subject, body string) {
	a.house.mail.TellLead(a.name, key, subject, body)
}

// canWork tells whether the agent that leads takes up mail: it is neither
// stopped nor paused, and its account is not at its limit.
func (h *house) canWork(lead string) bool {
	spec, ok := h.plan().spec(lead)
	if !ok {
		return false
	}
	st := h.holds.Of(lead)
	_, _, limited := h.holds.LimitOf(accountOf(turn.BackendOf(h.deps.Backends, spec.Backend).Kind().Login, h.environ, spec), lead, time.Now())
	return st.Stopped == nil && st.Paused == nil && !limited
}
