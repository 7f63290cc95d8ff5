package mail

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The ways in which a message may arrive. The daemon records what it saw itself, and does
// not trust what the message says.
const (
	ViaMailbox = "mailbox" // a program such as claude-swarm send delivered it into new/
	viaHand    = "hand"    // a file dropped into the folder, which the daemon delivered
)

// Arrivals remembers which of an agent's messages the daemon made from dropped files. The
// zero value is ready to use; it is safe for concurrent use.
type Arrivals struct {
	mu   sync.Mutex
	hand map[string]bool // message ids
	// origins contains the messages whose origin is known; came contains the arrival
	// times of the other messages. The keys of both maps are message ids.
	origins map[string]*Origin
	came    map[string]time.Time
}

// noteTime notes when a message arrived, unless its arrival or its origin is already
// known.
func (d *Arrivals) noteTime(id string, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.came[id]; known || d.origins[id] != nil {
		return
	}
	if d.came == nil || len(d.came) >= maxArrivals { // came may also contain messages that disappeared before they were claimed
		d.came = map[string]time.Time{}
	}
	d.came[id] = at
}

// maxArrivals bounds the number of arrival times kept for messages that are not yet
// claimed.
const maxArrivals = 1024

// found notes who left a message.
func (d *Arrivals) found(id string, o Origin) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keepOrigin(id, o)
}

func (d *Arrivals) keepOrigin(id string, o Origin) {
	if d.origins == nil {
		d.origins = map[string]*Origin{}
	}
	d.origins[id] = &o
	delete(d.came, id)
}

// origin returns who left a message, or nil if that is not yet known, and when the
// message arrived, or the zero time if that is not known. It returns the time of arrival
// only once.
func (d *Arrivals) origin(id string) (o *Origin, arrived time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, arrived = d.origins[id], d.came[id]
	delete(d.came, id)
	return o, arrived
}

// TakeIn calls f, which delivers a dropped file, and remembers the message's id and who
// left the file. [Arrivals.Via] waits in the meantime, because the message can be claimed
// before f returns.
func (d *Arrivals) TakeIn(o Origin, f func() (id string, err error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, err := f()
	if err != nil {
		return err
	}
	if d.hand == nil {
		d.hand = map[string]bool{}
	}
	d.hand[id] = true
	d.keepOrigin(id, o)
	return nil
}

// Via says how a message arrived.
func (d *Arrivals) Via(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hand[id] {
		return viaHand
	}
	return ViaMailbox
}

// Forget forgets a message that is settled.
func (d *Arrivals) Forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.hand, id)
	delete(d.origins, id)
	delete(d.came, id)
}

// An Origin says who may have left a file without a proof of its sender, judging by the
// turns that ran when it appeared.
//
// There is evidence that a turn left the file if its agent has named the folder of the
// mailbox in a tool call, or if the file was in the folder of that agent's own mailbox.
// Then the file belongs to that turn: it gets the turn's thread, trace and path, and one
// more hop. So agents that write files to themselves and to each other are stopped like
// agents that send messages.
//
// That a turn was running at the time is not evidence, even if no other turn was: people
// and cron jobs drop files while agents work. If it were evidence, each such file would
// count as one more hop in a swarm that is always busy, and the ninth file would be halted
// as a loop. So without evidence the number of hops does not change. But such a file does
// not count as a person's message either: it may go only to recipients to whom the agents
// that were working at the time may send. A loop of such files ends at
// policy.turns_per_hour.
type Origin struct {
	rec      *journal.Record // of the turn that wrote it; nil if there is no evidence
	suspects []string        // the agents that were working at the time, sorted
}

// Inherited returns the envelope that a file dropped into an agent's folder inherits from
// the turn that wrote it. The writer of the file is not known for sure, so the message
// still comes from the lead, and the lead gets the answer.
func (o Origin) Inherited() dropbox.Defaults {
	d := dropbox.Defaults{From: dropbox.Lead}
	if o.rec != nil {
		d.Thread, d.Trace, d.Hops = o.rec.Thread, o.rec.Trace, o.rec.Hops+1
		d.Path = append(slices.Clone(o.rec.Path), o.rec.Agent)
	}
	return d
}

// apply gives a message the envelope that it inherits, for the gate and for the turn's
// record. The message's file does not change.
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
