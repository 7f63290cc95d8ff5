package durable

import (
	"errors"
	"fmt"
	"os"
)

// A DamagedError reports that a file no longer contains the JSON that was written to it. A
// power cut cannot cause this damage, but a bad disk or a person can.
type DamagedError struct {
	Path string
	Err  error  // the fault in the file
	Lost string // the information that is lost with the file; may be empty
	Next string // the step that a person should take next; may be empty
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

// SetAside is for files whose loss is told to nobody. If err is a [*DamagedError], it sets
// the file aside. It returns every other error.
func SetAside(err error) error {
	if e, ok := errors.AsType[*DamagedError](err); ok {
		return e.SetAside()
	}
	return err
}

// IgnoreDamage is for files that are overwritten soon. It returns err, or nil if err is a
// [*DamagedError].
func IgnoreDamage(err error) error {
	if _, ok := errors.AsType[*DamagedError](err); ok {
		return nil
	}
	return err
}
