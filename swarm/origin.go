package swarm

import (
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An origin is what is known of the hand that left a file which nobody proves to have
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
// at work. What loops in that way ends at [Plan.TurnsPerHour].
type origin struct {
	rec      *journal.Record // of the turn that wrote it; nil where there is no evidence
	suspects []string        // the agents that were at work, sorted
}

// originOf looks for the turn that left a file in the agent's mailbox at that time.
// byHand says that it lay in the folder itself, where agents keep their own work.
func (a *agent) originOf(written time.Time, byHand bool) origin {
	var o origin
	for _, rec := range a.turnsAt(written) {
		o.suspects = append(o.suspects, rec.Agent)
		evident := rec.Agent == a.name && byHand || a.reach.named(a.name, rec.Agent)
		// Where several may have written it, the longest way counts: it ends soonest.
		if evident && (o.rec == nil || rec.Hops > o.rec.Hops) {
			o.rec = rec
		}
	}
	slices.Sort(o.suspects)
	o.suspects = slices.Compact(o.suspects)
	return o
}

// inherited is what a file that was laid into an agent's folder takes over from the
// turn that wrote it. Who wrote it is not known for sure, so it comes from the lead all
// the same, and the answer goes there.
func (o origin) inherited() dropbox.Defaults {
	d := dropbox.Defaults{From: dropbox.Lead}
	if o.rec != nil {
		d.Thread, d.Trace, d.Hops = o.rec.Thread, o.rec.Trace, o.rec.Hops+1
		d.Path = append(slices.Clone(o.rec.Path), o.rec.Agent)
	}
	return d
}

// apply gives a message what it inherits, for the gate and for the turn's record. Its
// file stays as it is. What the file claims of its way is not believed.
func (o origin) apply(m *dropbox.Message) {
	if o.rec == nil {
		return
	}
	d := o.inherited()
	if m.Thread == m.ID {
		m.Thread = orElse(d.Thread, m.Thread)
	}
	m.Trace = orElse(d.Trace, m.Trace)
	m.Hops = max(m.Hops, d.Hops)
	m.Path = d.Path
}

// noteArrival keeps in mind when a message arrived, before it is claimed, which changes that
// time.
func (a *agent) noteArrival(e dropbox.Entry) {
	if e.Begun > 0 {
		return // it was put back since
	}
	if at, err := a.box.Arrived(e); err == nil {
		a.doors.arrived(e.ID, at)
	}
}

// traceMessage finds out who left a claimed message, unless it is proven to be from whom it
// says, and applies it. suspects are the agents who may have left it.
func (a *agent) traceMessage(c *dropbox.Claim) (suspects []string, err error) {
	m := c.Message
	o, at := a.doors.origin(c.ID)
	if a.proves(m) {
		return nil, nil
	}
	switch {
	case o == nil && !at.IsZero():
		found := a.originOf(at, false)
		a.doors.found(c.ID, found)
		o = &found
	case o == nil:
		// It was begun before this daemon, whose record knows what was found out then.
		tried, err := journal.Records(a.home, c.ID, c.Begun-1)
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

// turnsAt are the turns that ran at a time, in the whole swarm.
func (s *Swarm) turnsAt(at time.Time) []*journal.Record {
	var all []*journal.Record
	for _, m := range s.members() {
		if rec := m.turns.Runs.At(at); rec != nil {
			all = append(all, rec)
		}
	}
	return append(all, s.home.AttachedTurns(at)...)
}

// reach remembers whose turns named the folder of a mailbox in a call of a tool. It is
// safe for several goroutines.
type reach struct {
	folder *regexp.Regexp // finds a mailbox's name behind the store's folder
	mu     sync.Mutex
	by     map[string]map[string]bool // mailbox, agent
}

func newReach(store string) *reach {
	return &reach{
		folder: regexp.MustCompile(regexp.QuoteMeta(filepath.Base(store)) + `/([a-z0-9][a-z0-9_-]{0,31})`),
		by:     map[string]map[string]bool{},
	}
}

// called notes the mailboxes that a call of one of an agent's tools names.
func (r *reach) called(by string, input []byte) {
	found := r.folder.FindAllSubmatch(input, 16)
	if len(found) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range found {
		name := string(m[1])
		if name == by || dropbox.CheckAgent(name) != nil {
			continue
		}
		if r.by[name] == nil {
			r.by[name] = map[string]bool{}
		}
		r.by[name][by] = true
	}
}

// named tells whether a turn of that agent named the folder of a mailbox.
func (r *reach) named(mailbox, agent string) bool {
	if r == nil {
		return false // an attached session sees no tools of others
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.by[mailbox][agent]
}
