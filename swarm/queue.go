package swarm

// A doorbell wakes one agent. It holds one ring, and one is enough: whoever
// hears it looks at everything.
type doorbell chan struct{}

func newDoorbell() doorbell { return make(doorbell, 1) }

func (b doorbell) ring() {
	select {
	case b <- struct{}{}:
	default: // somebody rang already
	}
}
