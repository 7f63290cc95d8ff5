package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// An output is where a verb prints. It keeps the first error, which most that
// print do not look at: a full disk behind a redirection is told at the end, once.
// It is safe for several goroutines.
type output struct {
	w      io.Writer
	broken func() // called at the first error; nil calls nothing

	mu  sync.Mutex
	err error
}

// Write prints, unless something could not be printed before.
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

// printed is the first error of printing to w, where somebody kept it.
func printed(w io.Writer) error {
	o, ok := w.(*output)
	if !ok {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// fileOf is the file behind w, which may be a terminal.
func fileOf(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	f, ok := w.(*os.File)
	return f, ok
}

// cannotPrint says why what was to be printed is cut off.
func cannotPrint(err error) error {
	return fail(exitFailed, "print to another place; the disk behind this one may be full", "cannot print: %w", bare(err))
}

// bare leaves out of an error of a file what the file is called: the standard
// output has no name that helps.
func bare(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// unprinted says of an error of printing, if there is one, that the message was
// delivered anyway. To send it once more would be wrong.
func unprinted(id string, err error) error {
	if err == nil {
		return nil
	}
	return fail(exitFailed, "claude-swarm trace "+id, "%s is delivered, but that cannot be printed: %w", id, bare(err))
}
