package journal

import (
	"errors"
)

// Damaged lists the files of the daemon that no longer contain what it wrote. The daemon
// does not start without state.json, since it would wake agents that are paused or stopped.
// It starts without the sessions, since nothing in them must be kept.
func (h Home) Damaged() []*DamagedError {
	var list []*DamagedError
	_, holds := OpenHolds(h)
	_, sessions := OpenSessions(h)
	for _, err := range []error{holds, sessions} {
		if e, ok := errors.AsType[*DamagedError](err); ok {
			list = append(list, e)
		}
	}
	return list
}
