package mail

import (
	"sync"
	"time"
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
