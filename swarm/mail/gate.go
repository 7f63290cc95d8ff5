package mail

import "github.com/claude-swarm/claude-swarm/internal/policy"

// A Gate decides whether a message may pass. The daemon asks the gate about every message
// that it claims, regardless of the sender, and about its own answers. Several goroutines
// may call the gate concurrently.
type Gate interface {
	Ask(policy.Question) policy.Verdict
}
