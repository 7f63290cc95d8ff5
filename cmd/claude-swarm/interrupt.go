package main

import (
	"context"
	"os"
	"os/signal"
	"sync"
)

// An interruptible is the context of a verb: it is done at the first Ctrl-C. It
// listens from when somebody first waits for it. To listen takes a thread, a tenth
// of the life of a `send`; and a verb that waits for nothing is over as soon as
// its user can press a key, or ended by it like any program.
type interruptible struct {
	context.Context
	cancel context.CancelFunc
	once   sync.Once
	ended  func() // ends the listening; set once somebody waits
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
