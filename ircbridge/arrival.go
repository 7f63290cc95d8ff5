package ircbridge

import (
	"errors"
	"syscall"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// maxArrivals is how many lines wait until the messages of earlier ones are delivered.
// Anyone who has one more to add waits for that, and so does the server.
const maxArrivals = 256

// An arrival is a line that is to be kept when the messages that it asked for are
// delivered: what is in the buffer after a crash was done.
type arrival struct {
	line   Line
	drafts []dropbox.Draft
	then   []func(dropbox.Outcome) // tells whoever said it what became of a draft
}

// add lets a message come of the line.
func (a *arrival) add(d dropbox.Draft, then func(dropbox.Outcome)) {
	a.drafts, a.then = append(a.drafts, d), append(a.then, then)
}

// finish delivers what a line asked for and keeps the line, after those before it.
func (r *run) finish(a arrival) {
	if len(a.drafts) == 0 && !r.delivering {
		r.keep(a.line) // there is nothing before it
		return
	}
	for len(r.arrivals) >= maxArrivals {
		(<-r.delivered)()
	}
	r.arrivals = append(r.arrivals, a)
	r.deliverNext()
}

// deliverNext delivers what was heard, away from the loop. What is heard meanwhile is
// delivered after that, all together: to deliver one takes as long as to deliver many.
func (r *run) deliverNext() {
	if r.delivering || len(r.arrivals) == 0 {
		return
	}
	batch := r.arrivals
	r.arrivals, r.delivering = nil, true
	var drafts []dropbox.Draft
	for _, a := range batch {
		drafts = append(drafts, a.drafts...)
	}
	r.work.Go(func() {
		outcomes := r.Store.DeliverBatch(drafts)
		hand(r.delivered, func() {
			r.delivering, r.dirty = false, true
			for _, a := range batch {
				for _, then := range a.then {
					then(outcomes[0])
					outcomes = outcomes[1:]
				}
				r.keep(a.line)
			}
			r.deliverNext()
		})
	})
}

// undelivered tells whoever said a line that no message for that agent came of it.
func (r *run) undelivered(t irc.Text, agent string, err error) {
	if errors.Is(err, dropbox.ErrFull) {
		r.tell(t, agent+" has too much mail already. Say it again later.")
		return
	}
	r.trouble("message was not delivered", err)
	why := err.Error()
	if errors.Is(err, syscall.ENOSPC) {
		why = "the disk is full. Say it again when there is room."
	} else if errno, ok := errors.AsType[syscall.Errno](err); ok {
		why = errno.Error() // and no paths
	}
	r.tell(t, agent+" did not get that: "+why)
}

// draft is a message of the bridge's for a mailbox.
func (r *run) draft(to string, m *dropbox.Message) dropbox.Draft {
	d := dropbox.Draft{To: to, Message: m}
	if r.Sign != nil {
		d.Sign = func(m *dropbox.Message) string { return r.Sign(m, to) }
	}
	return d
}
