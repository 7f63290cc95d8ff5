package hold

import "github.com/claude-swarm/claude-swarm/internal/screen"

// KindBackoff is the kind of [Backoff].
const KindBackoff Kind = "backoff"

// Backoff holds an agent that waits after a failure.
type Backoff struct{}

// Now implements [Hold].
func (Backoff) Now(q Query) (Held, bool) {
	until := q.Record.Until
	if !until.After(q.Now) {
		return Held{}, false
	}
	return Held{
		Kind: KindBackoff, State: backoff, Until: until, Why: q.Record.Why,
		Next: "tries again at " + screen.Ahead(until, q.Now) + ", or immediately after claude-swarm resume " + q.Agent,
	}, true
}
