package hold

import "cmp"

// KindStopped is the kind of [Stopped].
const KindStopped Kind = "stopped"

// Stopped holds an agent that a person, an agent or the breaker stopped, until it is started
// again.
type Stopped struct{}

// Now implements [Hold].
func (Stopped) Now(q Query) (Held, bool) {
	stop := q.Record.Stopped
	if stop == nil {
		return Held{}, false
	}
	return Held{
		Kind: KindStopped, State: stopped, Since: stop.Since, Why: stop.Reason(),
		Next: cmp.Or(stop.Hint, "claude-swarm start "+q.Agent), Breaker: stop.Breaker,
	}, true
}
