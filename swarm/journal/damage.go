package journal

import (
	"errors"
)

// Damaged lists the files of the daemon's that hold something else than it wrote. A
// start refuses to do without state.json, since it would wake who is paused or stopped;
// it does without the sessions, since a new one loses nothing that must be kept.
func (h Home) Damaged() []*DamagedError {
	var list []*DamagedError
	_, standing := OpenHolds(h)
	_, session := OpenSessions(h)
	for _, err := range []error{standing, session} {
		if e, ok := errors.AsType[*DamagedError](err); ok {
			list = append(list, e)
		}
	}
	return list
}
