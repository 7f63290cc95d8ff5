package hold

import (
	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// KindDraining is the kind of [Draining].
const KindDraining Kind = "draining"

// Draining holds the messages that would begin a new task, while their agent drains. Mail of
// the tasks that have begun gets its turns, so that these tasks come to their end.
type Draining struct {
	// Begun reports whether a turn has run on the task of a message in an agent's mailbox.
	Begun func(agent string, m *dropbox.Message) bool
}

// Now implements [Hold].
func (h Draining) Now(q Query) (Held, bool) {
	d := q.Record.Drain
	if d == nil || h.Begun(q.Agent, q.Message) {
		return Held{}, false
	}
	return Drains(q.Agent, d), true
}

// Drains returns how a drain keeps the agent from new tasks.
func Drains(agent string, d *journal.Drain) Held {
	return Held{
		Kind: KindDraining, State: paused, Since: d.Since, Why: d.Reason("draining"), Next: "claude-swarm undrain " + agent,
		OneMessage: true,
	}
}
