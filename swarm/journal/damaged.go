package journal

import (
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
