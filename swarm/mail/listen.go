package mail

import (
	"context"
	"fmt"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Listener hears the events of the swarm from the list of events: in order, each at least
// once, and including those of the time when no daemon ran.
type Listener struct {
	Name   string // of its cursor; a word in lower case
	Behind string // shown in the status while Hear returns an error, followed by a colon and the error
	// Hear handles events. After an error it gets the same events again, with the next
	// event or after a while. The daemon also calls it without events: when it starts, and
	// when it has filed or given up a message whose event Hear may have seen earlier. One
	// goroutine at a time calls it.
	Hear func(ctx context.Context, events []journal.Event) error
}

// happened puts an event on the list, and wakes the listeners. The error says that the
// event is not on the list.
func (s *Service) happened(ev journal.Event) error {
	s.Quiet.mark(&ev)
	if err := s.Events.Add(ev); err != nil {
		return fmt.Errorf("what happened could not be recorded: %w", err)
	}
	s.WakeListeners()
	return nil
}

// Hear gives a listener the events that it has not heard, and reports whether there were
// any. The status shows a failure.
func (s *Service) Hear(ctx context.Context, l Listener) (any bool, err error) {
	err = s.Events.Tell(l.Name, func(events []journal.Event, missed int64) error {
		if missed > 0 {
			s.Log.Warn("a listener was away for too long", "listener", l.Name, "missed", missed)
		}
		any = true
		return l.Hear(ctx, events)
	})
	s.Complain(l, err)
	return any, err
}

// Complain shows in the status why a listener did not accept an event; nil ends that.
func (s *Service) Complain(l Listener, err error) {
	key := "listener " + l.Name
	if err == nil {
		s.Trouble.Clear(key)
		return
	}
	s.Log.Error("a listener is behind", "listener", l.Name, keyErr, err)
	s.Trouble.Set(key, l.Behind+": "+err.Error())
}
