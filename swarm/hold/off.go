package hold

import (
	"time"

	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// KindOff is the kind of [Off].
const KindOff Kind = "off"

// Off holds an agent that is outside its hours, unless a person lets it work until they
// begin, or its next turn may begin anyway.
type Off struct{}

// Over implements [Ender]: overtime that has ended needs no words.
func (Off) Over(q Query) *End {
	o := q.Record.Overtime
	if o == nil || o.Holds(q.Now) {
		return nil
	}
	return &End{Since: o.Since, Forget: func(s *journal.Hold) {
		if s.Overtime != nil && s.Overtime.Since.Equal(o.Since) {
			s.Overtime = nil
		}
	}}
}

// Now implements [Hold].
func (Off) Now(q Query) (Held, bool) {
	again, isOff := OffUntil(q.Hours, q.Record, q.Now)
	if !isOff || q.Passes != nil && q.Passes() {
		return Held{}, false
	}
	next := "claude-swarm resume " + q.Agent + " lets it work now"
	if !again.IsZero() {
		next = "begins again at " + beginning(again, q.Hours.Zone, q.Now) + "; " + next
	}
	return Held{Kind: KindOff, State: off, Until: again, Why: "outside its hours", Next: next}, true
}

// beginning returns the time at which the hours begin. If that time is different in the
// agent's time zone, it is given in both zones.
func beginning(again time.Time, zone *time.Location, now time.Time) string {
	at := screen.Ahead(again, now)
	if zone != nil {
		if there, here := again.In(zone), again.Local(); there.Format(time.DateTime) != here.Format(time.DateTime) {
			at += " (" + there.Format("Mon 15:04") + " in " + zone.String() + ")"
		}
	}
	return at
}

// OffUntil returns when an agent's hours begin again, or false if the agent may work now. The
// time is zero if they never begin.
func OffUntil(h hours.Hours, st journal.Hold, now time.Time) (time.Time, bool) {
	if h.Open(now) || st.Overtime.Holds(now) {
		return time.Time{}, false
	}
	return h.Change(now), true
}
