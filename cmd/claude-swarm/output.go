package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// An output is the writer to which a verb prints. It stores the first write error, such
// as one caused by a full disk, because most callers do not check for errors. The
// function run reports the stored error at the end. An output is safe for concurrent use.
type output struct {
	w      io.Writer
	broken func() // called on the first error; may be nil

	mu  sync.Mutex
	err error
}

// Write prints p unless an earlier write failed.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	if err != nil {
		o.err = err
		if o.broken != nil {
			o.broken()
		}
	}
	return n, err
}

// printed returns the first error that occurred while printing to w if w is an [output].
func printed(w io.Writer) error {
	o, ok := w.(*output)
	if !ok {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf returns the file to which w writes, which can be a terminal.
func fileOf(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return f, ok
}

// cannotPrint returns the error for output that could not be printed completely.
func cannotPrint(err error) error {
	return fail(exitFailed, "print to another file; the disk of this one may be full", "cannot print: %w", withoutPath(err))
}

// withoutPath removes the path from a file error, because the path of standard output is
// not useful to a person.
func withoutPath(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// unprinted returns a printing error that also says that the message was delivered, so that
// the sender does not send it again. It returns nil if err is nil.
func unprinted(id string, err error) error {
	if err == nil {
		return nil
	}
	return fail(exitFailed, "claude-swarm trace "+id, "%s was delivered, but that could not be printed: %w", id, withoutPath(err))
}
