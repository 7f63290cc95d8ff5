package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// helm brings urgent mail to the turn of j. It is used by the agent's goroutine.
func (a *agent) helm(j *mail.Job) *runner.Steering {
	may := func(m *dropbox.Message) bool {
		if m == nil {
			st := a.holds.Of(a.name)
			return st.Stopped == nil && st.Paused == nil
		}
		return a.counts.Over(a.name, a.plan().TurnsPerHour, a.inbox.ByLead(m), time.Now()) == ""
	}
	return &runner.Steering{Wake: a.bell, Next: func() (runner.Steer, bool) { return a.inbox.NextUrgent(j, may) }}
}
