package mail

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// How a message may have come, as far as the daemon knows by
// itself; what a message says of it is not believed.
const (
	ViaMailbox = "mailbox" // delivered into new/ by some program, such as claude-swarm send
	viaHand    = "hand"    // a file laid into the folder by hand, taken in by the daemon
)

// Arrivals remember which of an agent's messages the daemon took in by itself. The
// zero value is ready to use; it is safe for several goroutines.
type Arrivals struct {
	mu   sync.Mutex
	hand map[string]bool // message ids
	// origins are those of messages that nobody proves to have sent, and came when the
	// others arrived; both by message ids.
	origins map[string]*Origin
	came    map[string]time.Time
}

// note notes when a message arrived, once.
func (d *Arrivals) note(id string, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.came[id]; known || d.origins[id] != nil {
		return
	}
	if d.came == nil || len(d.came) >= maxArrivals { // of messages that were gone at the claim
		d.came = map[string]time.Time{}
	}
	d.came[id] = at
}

// maxArrivals bounds what is kept of messages between their arrival and their claim.
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

// origin says who left a message, nil where that was not found out yet, and when it
// arrived, zero where that is not known. The arrival is told once.
func (d *Arrivals) origin(id string) (o *Origin, arrived time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	o, arrived = d.origins[id], d.came[id]
	delete(d.came, id)
	return o, arrived
}

// TakeIn calls f, which delivers what was dropped by hand, and remembers the id and who
// left it.
// Anyone who asks meanwhile waits: the message can be claimed before f returns.
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

// Via says how a message came.
func (d *Arrivals) Via(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hand[id] {
		return viaHand
	}
	return ViaMailbox
}

// Forget lets a message go that is settled.
func (d *Arrivals) Forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.hand, id)
	delete(d.origins, id)
	delete(d.came, id)
}

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
