package journal

import (
	"fmt"
	"os"
)

// A DamagedError says that a file of the daemon no longer contains what the daemon wrote.
// A power cut cannot cause that (see package durable), but a bad disk or a person can.
type DamagedError struct {
	Path string
	Err  error  // the fault in the file
	Lost string // the facts that are lost with it
	Next string // the next step for a person
}

func (e *DamagedError) Error() string {
	s := fmt.Sprintf("%s is damaged: %v", e.Path, e.Err)
	if e.Lost != "" {
		s += "; " + e.Lost
	}
	return s
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Aside returns the name to which SetAside moves a damaged file.
func (e *DamagedError) Aside() string { return e.Path + ".damaged" }

// SetAside moves the file out of the way.
func (e *DamagedError) SetAside() error { return os.Rename(e.Path, e.Aside()) }
