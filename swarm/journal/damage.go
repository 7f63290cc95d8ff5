package journal

import (
	"errors"
)

// Damaged lists the files of the daemon that no longer hold what it wrote. Without
// state.json the daemon does not start, since it would wake agents that are paused or
// stopped; without the sessions it does, since a new session loses nothing that must be
// kept.
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
