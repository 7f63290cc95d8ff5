package swarm

import (
	"context"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Listener is told what happens in the swarm, by the list of events: in order, and each
// event at least once, also what happened while no daemon ran or one was cut off.
type Listener struct {
	Name   string // of its cursor; a word of small letters
	Behind string // what the status says while Hear returns an error, before a colon and the error
	// Hear takes events. After an error it gets the same ones again: when the next one
	// comes, and after a while. It is also called with no events: when the daemon starts,
	// and when a message has been filed or given up whose event it may have heard before.
	// One goroutine at a time calls it.
	Hear func(ctx context.Context, events []journal.Event) error
}

const (
	// firstRetry and lastRetry bound the wait after an error; it doubles between them.
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// listening is a listener of a daemon.
type listening struct {
	Listener
	bell doorbell
}

// openListeners gives every listener its cursor.
func (s *Swarm) openListeners(more []Listener) error {
	all := append([]Listener{s.leadListener()}, more...)
	if s.announcer != nil {
		all = append(all, s.announceListener())
	}
	for _, l := range all {
		if err := s.events.Begin(l.Name); err != nil {
			return err
		}
		s.listeners = append(s.listeners, &listening{l, newDoorbell()})
	}
	s.wakeListeners = func() {
		for _, l := range s.listeners {
			l.bell.ring()
		}
	}
	return nil
}

// happened puts an event on the list, and wakes whoever listens. The error says that it
// could not be written down.
func (h *house) happened(ev journal.Event) error {
	if err := h.events.Add(ev); err != nil {
		return fmt.Errorf("what happened is not written down: %w", err)
	}
	h.wakeListeners()
	return nil
}

// hear tells a listener what it has not heard, and whether there was something. The status
// says how that fails.
func (h *house) hear(ctx context.Context, l Listener) (any bool, err error) {
	err = h.events.Tell(l.Name, func(events []journal.Event, missed int64) error {
		if missed > 0 {
			h.log.Warn("a listener was away for too long", "listener", l.Name, "missed", missed)
		}
		any = true
		return l.Hear(ctx, events)
	})
	h.complain(l, err)
	return any, err
}

// complain says in the status what a listener has against an event; nil ends that.
func (h *house) complain(l Listener, err error) {
	key := "listener " + l.Name
	if err == nil {
		h.trouble.clear(key)
		return
	}
	h.log.Error("a listener is behind", "listener", l.Name, keyErr, err)
	h.trouble.set(key, l.Behind+": "+err.Error())
}

// listen tells a listener what happens until ctx is done, and then what happened before
// that. Nothing interrupts Hear.
func (s *Swarm) listen(ctx context.Context, l *listening) {
	calm := context.WithoutCancel(ctx)
	for retry, start := firstRetry, true; ; start = false {
		last := ctx.Err() != nil
		any, err := s.hear(calm, l.Listener)
		if err == nil && (start || !any) {
			err = l.Hear(calm, nil)
			s.complain(l.Listener, err)
		}
		if last {
			return
		}
		if err == nil {
			retry = firstRetry
			l.bell.wait(ctx, forever)
			continue
		}
		l.bell.wait(ctx, retry)
		retry = min(2*retry, lastRetry)
	}
}
