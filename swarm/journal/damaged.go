package journal

import (
	"errors"
	"fmt"
	"os"
)

// A DamagedError says that a file of the daemon's holds something else than the daemon
// wrote: no power cut does that (see package durable), but a disk or a hand.
type DamagedError struct {
	Path string
	Err  error  // what is wrong in it
	Lost string // what is not known therefore
	Next string // what a person can do
}

func (e *DamagedError) Error() string {
	s := fmt.Sprintf("%s is damaged: %v", e.Path, e.Err)
	if e.Lost != "" {
		s += "; " + e.Lost
	}
	return s
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Aside is the name under which a damaged file is kept.
func (e *DamagedError) Aside() string { return e.Path + ".damaged" }

// SetAside moves the file out of the way.
func (e *DamagedError) SetAside() error { return os.Rename(e.Path, e.Aside()) }

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
