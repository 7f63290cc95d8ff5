package notice

import (
	"context"

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

// Listeners returns the lead's mail and, if there is an announcer, the announcer.
func (t *Teller) Listeners() []Listener {
	all := []Listener{{Name: "lead", Behind: "the lead could not be notified", Hear: t.deliverAlerts, Acts: isForLead}}
	if t.Announcer != nil {
		all = append(all, Listener{Name: "irc", Behind: "IRC does not show what is happening", Hear: t.announceEvents, On: t.Announcer.On})
	}
	return all
}

// Hear passes to a listener the events that it has not yet heard, and reports whether
// there were any. If the listener fails, the status shows the error.
func (t *Teller) Hear(ctx context.Context, l Listener) (any bool, err error) {
	err = t.Events.Tell(l.Name, l.Acts, func(events []journal.Event, missed int64) error {
		if missed > 0 {
			t.Log.Warn("a listener was absent for too long", "listener", l.Name, "missed", missed)
		}
		any = true
		return l.Hear(ctx, events)
	})
	t.Complain(l, err)
	return any, err
}

// Complain makes the status show why a listener did not accept an event. A nil error
// removes that line from the status.
func (t *Teller) Complain(l Listener, err error) {
	key := "listener " + l.Name
	if err == nil {
		t.Trouble.Clear(key)
		return
	}
	t.Log.Error("a listener fell behind", "listener", l.Name, keyErr, err)
	t.Trouble.Set(key, l.Behind+": "+err.Error())
}
