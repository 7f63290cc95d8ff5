package swarm

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// holdForTurns pauses the agent when a turn for this message would be one too many, and
// tells the lead once. The pause does not end by itself.
func (a *agent) holdForTurns(m *dropbox.Message) bool {
	perHour := a.plan().TurnsPerHour
	if perHour <= 0 {
		return false
	}
	now := time.Now().UTC()
	why := a.counts.Over(a.name, perHour, a.inbox.ByLead(m), now)
	if why == "" {
		return false
	}
	a.log.Warn("agent is paused", keyWhy, why, keyMessage, m.ID)
	a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) {
		s.Paused = &journal.Pause{By: dropbox.Swarm, Why: why, Since: now, Turns: true}
	}))
	n := journal.Notice{Word: journal.BudgetReached, Agent: a.name, Why: "is paused: " + why, Next: "To let it go on: claude-swarm resume " + a.name, Held: true}
	a.deps.mail.TellNotice(a.name, "turns:"+a.name+":"+now.Format(time.RFC3339Nano), n, a.name+" is paused: too many turns", fmt.Sprintf(
		"%s is paused: %s.\n\nIts mail waits. Next would have been %s from %s: %s\n\nWhat it did: claude-swarm history %s\nTo let it go on: claude-swarm resume %s\n",
		a.name, why, m.ID, m.From, mail.Describe(m), a.name, a.name))
	return true
}
