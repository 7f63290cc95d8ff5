package swarm

import "sync"

// The doors that a message may have come through, as far as the daemon knows by
// itself; what a message says of it is not believed.
const (
	viaMailbox = "mailbox" // delivered into new/ by some program, such as claude-swarm send
	viaHand    = "hand"    // a file laid into the folder by hand, taken in by the daemon
)

// doors remembers which of an agent's messages the daemon took in by itself. The
// zero value is ready to use; it is safe for several goroutines.
type doors struct {
	mu   sync.Mutex
	hand map[string]bool // message ids
}

// takeIn calls f, which delivers what was dropped by hand, and remembers the id.
// Whoever asks meanwhile waits: the message can be claimed before f returns.
func (d *doors) takeIn(f func() (id string, err error)) error {
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
	return nil
}

// of says through which door a message came.
func (d *doors) of(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.hand[id] {
		return viaHand
	}
	return viaMailbox
}

// forget lets a message go that is settled.
func (d *doors) forget(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.hand, id)
}
