package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
)

// An interruptible is the context of a verb: it is done at the first Ctrl-C. It starts to
// listen for Ctrl-C at the first call of Done, because listening needs a thread, which takes a
// tenth of the time of a `send`. Before that call, Ctrl-C ends the program like any other.
type interruptible struct {
	context.Context
	cancel context.CancelFunc
	once   sync.Once
	ended  func() // stops listening; nil before the first call of Done
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

// stop removes the signal handler, and cancels the context.
func (i *interruptible) stop() {
	i.once.Do(func() {})
	if i.ended != nil {
		i.ended()
	}
	i.cancel()
}
