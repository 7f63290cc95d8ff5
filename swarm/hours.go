package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Outside its hours an agent begins no turn, with two exceptions for a person: an urgent
// message gets its turn, and the order to resume, which is kept in state.json, lets the
// agent work until its hours begin. Each check of the clock decides again whether the agent
// is off, so a clock that is set, or a machine that slept, needs no correction: the agent's
// timer wakes it at the change, and the check of the folders every 30 s notices the rest.

// off reports whether the agent is outside its hours, and until when.
func (a *agent) off(now time.Time) (time.Time, bool) {
	return offUntil(a.control.hours(), a.holds.Of(a.name), now)
}

// untilHours returns the time until the agent's hours begin or end; forever if they never
// do.
func (a *agent) untilHours(now time.Time) time.Duration {
	return until(a.control.hours().Change(now), now)
}

// passesHours reports whether a message gets its turn outside the agent's hours: it is
// urgent, and from a person. A bridge passes on only messages of people who may write to
// agents.
func (a *agent) passesHours(m *dropbox.Message) bool {
	return m.Priority == dropbox.Urgent && m.Type.Wakes() && (m.From == dropbox.Lead || dropbox.IsBridge(m.From)) && a.inbox.Proves(m)
}

// mostUrgent is how many urgent messages are read to find one of a person.
const mostUrgent = 100

// next returns the message for the next turn: the first one, or outside the agent's hours
// the first one that passes.
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

// called reports whether a message that passes the agent's hours waits.
func (a *agent) called(now time.Time) bool {
	if a.inbox.Queue.Refresh(a.list) != nil {
		a.inbox.Queue.Changed("")
		return false // the next check tries again
	}
	_, ok := a.next(now)
	return ok
}

// showOff shows that the agent is outside its hours, and says when to look again.
func (a *agent) showOff(again, now time.Time) time.Duration {
	why, next := offWords(a.name, again, a.control.hours().Zone)
	a.view.off(&OffStatus{Until: again.UTC()})
	a.show(Off, why, next)
	return until(again, now)
}

// offWords say why an agent that is off does not work, and what comes next, with the time
// of its zone if that differs.
func offWords(agent string, again time.Time, zone *time.Location) (why, next string) {
	why = "outside its hours"
	next = "claude-swarm resume " + agent + " lets it work now"
	if again.IsZero() {
		return why, next
	}
	at := screen.Ahead(again, time.Now())
	if zone != nil {
		if there, here := again.In(zone), again.Local(); there.Format(time.DateTime) != here.Format(time.DateTime) {
			at += " (" + there.Format("Mon 15:04") + " in " + zone.String() + ")"
		}
	}
	return why, "begins again at " + at + "; " + next
}

// overtime lets an agent work until its hours begin, on a person's order, and reports
// whether it was off. The caller changes the agent's hold.
func overtime(h hours.Hours, by string, st *journal.Hold, now time.Time) bool {
	again, off := offUntil(h, *st, now)
	if off {
		st.Overtime = &journal.Overtime{By: by, Since: now.UTC().Round(0), Until: again.UTC().Round(0)}
	}
	return off
}
