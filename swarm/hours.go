package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Outside its hours, an agent does not begin turns, with two exceptions. An urgent message
// from a person gets its turn, and a person's order to resume lets the agent work until its
// hours begin. That order is kept in state.json. Each check of the clock determines again
// whether the agent is off, so no state has to be corrected after the clock has been set or
// the machine has slept. The agent's timer wakes it when its hours begin or end. If the
// timer is late, the folder check, which runs every 30 s, wakes the agent.

// off reports whether the agent is outside its hours, and when they begin again.
func (a *agent) off(now time.Time) (time.Time, bool) {
	return hold.OffUntil(a.control.hours(), a.holds.Of(a.name), now)
}

// untilHours returns the time until the agent's hours next begin or end, or forever if
// they never do.
func (a *agent) untilHours(now time.Time) time.Duration {
	return until(a.control.hours().Change(now), now)
}

// passesHours reports whether a message gets its turn outside the agent's hours because
// it is urgent and from a person. A bridge forwards only messages from people who may
// write to agents.
func (a *agent) passesHours(m *dropbox.Message) bool {
	return m.Priority == dropbox.Urgent && m.Type.Wakes() && (m.From == dropbox.Lead || dropbox.IsBridge(m.From)) && a.inbox.Proves(m)
}

// mostUrgent is the maximum number of urgent messages that are read to find one from a
// person.
const mostUrgent = 100

// next returns the message for the next turn. Within the agent's hours it is the first
// waiting message. Outside them it is the first one for which passesHours is true.
func (a *agent) next(now time.Time) (dropbox.Entry, bool) {
	if _, off := a.off(now); !off {
		return a.inbox.Queue.Head()
	}
	for _, e := range a.inbox.Queue.Urgent(mostUrgent) {
		if m, err := a.inbox.Box.Read(e); err == nil && a.passesHours(m) {
			return e, true
		}
	}
	return dropbox.Entry{}, false
}

// called reports whether a waiting message may get its turn now, even if the agent is
// outside its hours.
func (a *agent) called(now time.Time) bool {
	if a.inbox.Queue.Refresh(a.list) != nil {
		a.inbox.Queue.Changed("")
		return false // the next check tries again
	}
	_, ok := a.next(now)
	return ok
}

// overtime lets an agent work until its hours begin, as ordered by a person. It reports
// whether the agent was off. It changes st, so only a function passed to
// [journal.Holds.Change] may call it.
func overtime(h hours.Hours, by string, st *journal.Hold, now time.Time) bool {
	again, off := hold.OffUntil(h, *st, now)
	if off {
		st.Overtime = &journal.Overtime{By: by, Since: now.UTC().Round(0), Until: again.UTC().Round(0)}
	}
	return off
}
