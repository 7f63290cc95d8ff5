package mail

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// OriginOf determines which turn dropped a file in the agent's mailbox. file is the name of
// the file, or "" if it was delivered into new/. written is the time when the file got its
// last byte.
func (in *Inbox) OriginOf(file string, written time.Time) Origin {
	var o Origin
	for _, rec := range in.TurnsAt(written) {
		o.suspects = append(o.suspects, rec.Agent)
	}
	for _, rec := range in.Reach.wrote(in.Name, file, written) {
		o.suspects = append(o.suspects, rec.Agent)
		// If several turns may have written the file, the turn with the most hops is
		// used, because its chain ends soonest.
		if o.rec == nil || rec.Hops > o.rec.Hops {
			o.rec = rec
		}
	}
	slices.Sort(o.suspects)
	o.suspects = slices.Compact(o.suspects)
	return o
}

// NoteArrival records when a message arrived. It must be called before the claim, which
// changes the file's time.
func (in *Inbox) NoteArrival(e dropbox.Entry) {
	if e.Begun > 0 {
		return // the message was put back, so the file time is not its arrival time
	}
	if at, err := in.Box.Arrived(e); err == nil {
		in.Arrivals.noteTime(e.ID, at)
	}
}

// traceMessage determines the origin of a claimed message that has no valid proof, and
// applies the origin to the message. suspects are the agents that may have written it.
func (in *Inbox) traceMessage(c *dropbox.Claim) (suspects []string, err error) {
	m := c.Message
	o, at := in.Arrivals.origin(c.ID)
	if in.Proves(m) {
		return nil, nil
	}
	switch {
	case o == nil && !at.IsZero():
		found := in.OriginOf("", at)
		in.Arrivals.found(c.ID, found)
		o = &found
	case o == nil:
		// An earlier attempt has already traced the message. That attempt's record
		// contains the result.
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
