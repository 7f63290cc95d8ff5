package swarm

import (
	"time"
)

// A TopicPolicy says what happens to published work that nobody claims.
type TopicPolicy struct {
	// ClaimTimeout is how long each step waits for the next one; 0 means 120 s, the
	// source document's value. The steps are: it is offered once more, as urgent; it
	// goes to Fallback, if there is one; the lead is told.
	ClaimTimeout time.Duration
	Fallback     string // agent; "" and the lead are none
}

func (p TopicPolicy) claimTimeout() time.Duration {
	if p.ClaimTimeout == 0 {
		return 120 * time.Second
	}
	return p.ClaimTimeout
}
