package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
)

// An interruptible is the context of a verb. The first Ctrl-C cancels it. It starts
// listening for Ctrl-C on the first call to Done, because listening needs a thread, and
// starting a thread takes a tenth of the run time of `send`. Before that call, Ctrl-C
// ends the program immediately, as it does by default.
type interruptible struct {
	context.Context
	cancel context.CancelFunc
	once   sync.Once
	ended  func() // stops listening; nil before the first call to Done
}

func newInterruptible() *interruptible {
	i := &interruptible{}
	i.Context, i.cancel = context.WithCancel(context.Background())
	return i
}

// Done returns a channel that is closed on the first Ctrl-C.
func (i *interruptible) Done() <-chan struct{} {
	i.once.Do(func() {
		heard, ended := signal.NotifyContext(i.Context, os.Interrupt)
		unhook := context.AfterFunc(heard, i.cancel)
		i.ended = func() { unhook(); ended() }
	})
	return i.Context.Done()
}

// stop removes the signal handler and cancels the context.
func (i *interruptible) stop() {
	i.once.Do(func() {})
	if i.ended != nil {
		i.ended()
	}
	i.cancel()
}
