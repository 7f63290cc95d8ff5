package mail

import (
	"context"
	"fmt"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Listener gets the swarm's events from the event list. It gets each event at least
// once, in the order of the list, including events that were added while no daemon was
// running.
type Listener struct {
	Name   string // name of its cursor; one lower-case word
	Behind string // shown in the status while Hear returns an error, followed by a colon and the error
	// Hear handles events. If Hear returns an error, it gets the same events again later,
	// either together with the next event or after a delay. The daemon also calls Hear
	// without events: when the daemon starts or stops, and when it has filed or given up
	// a message whose event Hear may already have received. Only one goroutine at a time
	// calls Hear.
	Hear func(ctx context.Context, events []journal.Event) error
	// Acts reports whether Hear does anything about an event; nil means that it does about
	// each. It may depend only on the event. Hear also gets the other events, but the cursor is
	// not written for them alone, because nothing happens if Hear gets them again.
	Acts func(journal.Event) bool
	// On reports whether the configuration needs the listener; nil means always. A listener
	// that is off has no cursor and gets no events, also not later.
	On func() bool
}

// IsOn reports whether the configuration needs the listener.
func (l Listener) IsOn() bool { return l.On == nil || l.On() }

// happened adds an event to the list, and wakes the listeners. If happened returns an
// error, the event is not in the list.
func (s *Service) happened(ev journal.Event) error {
	s.Quiet.mark(&ev)
	if err := s.Events.Add(ev); err != nil {
		return fmt.Errorf("what happened could not be recorded: %w", err)
	}
	s.WakeListeners()
	return nil
}

// Hear passes to a listener the events that it has not yet heard, and reports whether
// there were any. If the listener fails, the status shows the error.
func (s *Service) Hear(ctx context.Context, l Listener) (any bool, err error) {
	err = s.Events.Tell(l.Name, l.Acts, func(events []journal.Event, missed int64) error {
		if missed > 0 {
			s.Log.Warn("a listener was absent for too long", "listener", l.Name, "missed", missed)
		}
		any = true
		return l.Hear(ctx, events)
	})
	s.Complain(l, err)
	return any, err
}

// Complain makes the status show why a listener did not accept an event. A nil error
// removes that line from the status.
func (s *Service) Complain(l Listener, err error) {
	key := "listener " + l.Name
	if err == nil {
		s.Trouble.Clear(key)
		return
	}
	s.Log.Error("a listener fell behind", "listener", l.Name, keyErr, err)
	s.Trouble.Set(key, l.Behind+": "+err.Error())
}
