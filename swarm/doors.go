package swarm

import "sync"

// The doors that a message may have come through, as far as the daemon knows by
// itself; what a message says of it is not believed.
const (
	viaMailbox = "mailbox" // delivered into new/ by some program, such as claude-swarm send
	viaHand    = "hand"    // a file laid into the folder by hand, taken in by the daemon
	viaSwarm   = "swarm"   // delivered by the daemon
)

// maxDoors bounds what is remembered of messages that nobody claims.
const maxDoors = 10_000

// doors remembers through which door waiting messages came. It is safe for
// several goroutines.
type doors struct {
	mu  sync.Mutex
	via map[string]string // by message id
}

func newDoors() *doors { return &doors{via: map[string]string{}} }

func (d *doors) set(id, via string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.via) < maxDoors {
		d.via[id] = via
	}
}

// of says through which door a message came.
func (d *doors) of(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return orElse(d.via[id], viaMailbox)
}

// take is of, and forgets it.
func (d *doors) take(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	via := orElse(d.via[id], viaMailbox)
	delete(d.via, id)
	return via
}
