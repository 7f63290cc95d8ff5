package mail

import (
	"cmp"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An Origin is what is known of the hand that left a file which nobody proves to have
// sent, from the turns that ran when it appeared.
//
// There is evidence where a tool call named the folder of the mailbox, or where a turn
// was at work in that folder itself. Then the file belongs to that turn: its thread,
// trace and path, and one hop more, so that agents which write files to themselves and
// to each other are stopped as those that send messages are.
//
// That a turn ran is not evidence, even if it was the only one: people and cron jobs drop
// files while agents work. A swarm that is always busy would pass their files on, hop by
// hop, and halt the ninth as a loop. So without evidence the hops stay what they are.
// But such a file is no person's word either: it is held to the lists of those who were
// at work. What loops in that way ends at policy.turns_per_hour.
type Origin struct {
	rec      *journal.Record // of the turn that wrote it; nil where there is no evidence
	suspects []string        // the agents that were at work, sorted
}

// OriginOf looks for the turn that left a file in the agent's mailbox at that time.
// byHand says that it lay in the folder itself, where agents keep their own work.
func (in *Inbox) OriginOf(written time.Time, byHand bool) Origin {
	var o Origin
	for _, rec := range in.TurnsAt(written) {
		o.suspects = append(o.suspects, rec.Agent)
		evident := rec.Agent == in.Name && byHand || in.Reach.named(in.Name, rec.Agent)
		// Where several may have written it, the longest way counts: it ends soonest.
		if evident && (o.rec == nil || rec.Hops > o.rec.Hops) {
			o.rec = rec
		}
	}
	slices.Sort(o.suspects)
	o.suspects = slices.Compact(o.suspects)
	return o
}

// Inherited is what a file that was laid into an agent's folder takes over from the
// turn that wrote it. Who wrote it is not known for sure, so it comes from the lead all
// the same, and the answer goes there.
func (o Origin) Inherited() dropbox.Defaults {
	d := dropbox.Defaults{From: dropbox.Lead}
	if o.rec != nil {
		d.Thread, d.Trace, d.Hops = o.rec.Thread, o.rec.Trace, o.rec.Hops+1
		d.Path = append(slices.Clone(o.rec.Path), o.rec.Agent)
	}
	return d
}

// apply gives a message what it inherits, for the gate and for the turn's record. Its
// file stays as it is. What the file claims of its way is not believed.
func (o Origin) apply(m *dropbox.Message) {
	if o.rec == nil {
		return
	}
	d := o.Inherited()
	if m.Thread == m.ID {
		m.Thread = cmp.Or(d.Thread, m.Thread)
	}
	m.Trace = cmp.Or(d.Trace, m.Trace)
	m.Hops = max(m.Hops, d.Hops)
	m.Path = d.Path
}

// NoteArrival keeps in mind when a message arrived, before it is claimed, which changes that
// time.
func (in *Inbox) NoteArrival(e dropbox.Entry) {
	if e.Begun > 0 {
		return // it was put back since
	}
	if at, err := in.Box.Arrived(e); err == nil {
		in.Arrivals.note(e.ID, at)
	}
}

// traceMessage finds out who left a claimed message, unless it is proven to be from whom it
// says, and applies it. suspects are the agents who may have left it.
func (in *Inbox) traceMessage(c *dropbox.Claim) (suspects []string, err error) {
	m := c.Message
	o, at := in.Arrivals.origin(c.ID)
	if in.Proves(m) {
		return nil, nil
	}
	switch {
	case o == nil && !at.IsZero():
		found := in.OriginOf(at, false)
		in.Arrivals.found(c.ID, found)
		o = &found
	case o == nil:
		// It was begun before this daemon, whose record knows what was found out then.
		tried, err := journal.Records(in.Home, c.ID, c.Begun-1)
		if err != nil || len(tried) == 0 {
			return nil, err
		}
		if last := tried[len(tried)-1]; last.Hops >= m.Hops && len(last.Path) > 0 {
			m.Thread, m.Trace, m.Hops, m.Path = last.Thread, last.Trace, last.Hops, last.Path
		}
		return nil, nil
	}
	o.apply(m)
	return o.suspects, nil
}
