package mail

import (
	"context"
	"fmt"

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

// happened puts an event on the list, and wakes whoever listens. The error says that it
// could not be written down.
func (s *Service) happened(ev journal.Event) error {
	if err := s.Events.Add(ev); err != nil {
		return fmt.Errorf("what happened is not written down: %w", err)
	}
	s.WakeListeners()
	return nil
}

// Hear tells a listener what it has not heard, and whether there was something. The status
// says how that fails.
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

// Complain says in the status what a listener has against an event; nil ends that.
func (s *Service) Complain(l Listener, err error) {
	key := "listener " + l.Name
	if err == nil {
		s.Trouble.Clear(key)
		return
	}
	s.Log.Error("a listener is behind", "listener", l.Name, keyErr, err)
	s.Trouble.Set(key, l.Behind+": "+err.Error())
}
