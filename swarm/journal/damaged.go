package journal

import (
	"fmt"
	"os"
)

// A DamagedError reports that one of the daemon's files no longer contains what the
// daemon wrote to it. A power cut cannot cause this damage (see package durable), but a
// bad disk or a person can.
type DamagedError struct {
	Path string
	Err  error  // the fault in the file
	Lost string // the information that is lost with the file
	Next string // the step that a person should take next
}

func (e *DamagedError) Error() string {
	s := fmt.Sprintf("%s is damaged: %v", e.Path, e.Err)
	if e.Lost != "" {
		s += "; " + e.Lost
	}
	return s
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Aside returns the path to which SetAside moves a damaged file.
func (e *DamagedError) Aside() string { return e.Path + ".damaged" }

// SetAside moves the file to the path that Aside returns.
func (e *DamagedError) SetAside() error { return os.Rename(e.Path, e.Aside()) }
