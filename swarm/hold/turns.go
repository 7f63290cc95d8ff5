package hold

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// KindTurns is the kind of [Turns].
const KindTurns Kind = "turns"

// Turns holds an agent that would begin too many turns within an hour. It is the beginning
// of a pause, which lasts until a person ends it.
type Turns struct {
	Counts interface {
		// Over returns the reason why the agent may not begin another turn, or "".
		Over(agent string, perHour int, person bool, now time.Time) string
	}
	PerHour func() int // returns policy.turns_per_hour; 0 means no limit
}

// Now implements [Hold].
func (h Turns) Now(q Query) (Held, bool) {
	why := h.Counts.Over(q.Agent, h.PerHour(), q.ByLead, q.Now)
	if why == "" {
		return Held{}, false
	}
	p := &journal.Pause{By: dropbox.Swarm, Why: why, Since: q.Now.UTC(), Turns: true}
	return Held{Kind: KindTurns, State: paused, Since: p.Since, Why: why, Next: "claude-swarm resume " + q.Agent, Pause: p}, true
}
