package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
)

// An interruptible is the context of a verb: it is done at the first Ctrl-C. It listens for
// Ctrl-C from the first call of Done on: listening takes a thread, which is a tenth of the
// time of a `send`. A verb that waits for nothing ends at Ctrl-C like any program.
type interruptible struct {
	context.Context
	cancel context.CancelFunc
	once   sync.Once
	ended  func() // ends the listening; nil before the first Done
}

func newInterruptible() *interruptible {
	i := &interruptible{}
	i.Context, i.cancel = context.WithCancel(context.Background())
	return i
}

// Done is closed at the first Ctrl-C.
func (i *interruptible) Done() <-chan struct{} {
	i.once.Do(func() {
		heard, ended := signal.NotifyContext(i.Context, os.Interrupt)
		unhook := context.AfterFunc(heard, i.cancel)
		i.ended = func() { unhook(); ended() }
	})
	return i.Context.Done()
}

// stop ends the listening.
func (i *interruptible) stop() {
	i.once.Do(func() {})
	if i.ended != nil {
		i.ended()
	}
	i.cancel()
}
