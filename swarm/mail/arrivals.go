package mail

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The ways in which a message can arrive. The daemon records how it received the message,
// and does not trust the message's own fields.
const (
	ViaMailbox = "mailbox" // a program such as claude-swarm send delivered it into new/
	viaHand    = "hand"    // the daemon delivered it from a file that was dropped into the folder
	// viaText is like viaHand. The file begins with a block between --- lines that is not an
	// envelope, so the whole file is the text.
	viaText = "hand, as text"
)

// Arrivals records which of an agent's messages the daemon created from dropped files.
// The zero value is ready to use. Arrivals is safe for concurrent use.
type Arrivals struct {
	mu   sync.Mutex
	hand map[string]string // by message id: viaHand or viaText
	// origins contains the messages whose origin is known; came contains the arrival
	// times of the other messages. The keys of both maps are message ids.
	origins map[string]*Origin
	came    map[string]time.Time
}

// noteTime records when a message arrived, unless its arrival time or its origin is
// already known.
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

// maxArrivals is the maximum number of arrival times that are kept for messages that have
// not been claimed yet.
const maxArrivals = 1024

// found records the origin of a message.
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

// origin returns the origin of a message, or nil if it is not yet known. It also returns
// the time when the message arrived, or the zero time if that is unknown. It returns the
// arrival time only once.
func (d *Arrivals) origin(id string) (o *Origin, arrived time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, arrived = d.origins[id], d.came[id]
	delete(d.came, id)
	return o, arrived
}

// TakeIn calls f, which delivers a dropped file, and records how the message arrived and its
// origin. While f runs, [Arrivals.Via] waits, because the message can be claimed before
// f returns.
func (d *Arrivals) TakeIn(o Origin, f func() (dropbox.Delivery, error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	del, err := f()
	if err != nil {
		return err
	}
	if d.hand == nil {
		d.hand = map[string]string{}
	}
	d.hand[del.ID] = viaHand
	if del.Text {
		d.hand[del.ID] = viaText
	}
	d.keepOrigin(del.ID, o)
	return nil
}

// Via returns how a message arrived.
func (d *Arrivals) Via(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return cmp.Or(d.hand[id], ViaMailbox)
}

// Forget removes a message that is settled.
func (d *Arrivals) Forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.hand, id)
	delete(d.origins, id)
	delete(d.came, id)
}

// An Origin describes who may have dropped a file that has no proof of its sender. It is
// based on the tool calls and the turns that were running when the file got its last byte.
//
// There is evidence that a turn dropped the file if a call of that turn was running at that
// time, can write files, and names the file or the folder of the mailbox. In that case the
// file belongs to that turn, and gets the turn's thread, trace and path, and one more hop.
// So loops of agents that write files to themselves and to each other are stopped like
// loops of messages.
//
// A turn that was running at the time is not evidence, even if it was the only one, and
// even if it was the turn of the mailbox's own agent, because people and cron jobs drop
// files while agents work. If it were evidence, each such file would count as one more hop
// in a swarm that is always busy, and the ninth file would be treated as a loop and halted.
// So without evidence the file begins a conversation with no hops. But such a file does not count as a person's message either. It may go only to
// recipients to which the agents that were working at the time may send messages. A loop
// of such files ends at policy.turns_per_hour.
type Origin struct {
	rec      *journal.Record // of the turn that wrote the file; nil if there is no evidence
	suspects []string        // the agents that were working at the time, sorted
}

// Inherited returns the envelope that a file dropped into an agent's folder inherits from
// the turn that wrote it. It is not certain who wrote the file, so the sender of the
// message is still the lead, and the lead gets the answer.
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
