package bridge

import "github.com/claude-swarm/claude-swarm/dropbox"

// maxArrivals is the maximum number of lines that can wait while an earlier delivery is in
// progress. At this limit, the loop blocks, and with it the link and the server.
const maxArrivals = 256

// An arrival is a line together with the messages that it requests. The line is added to
// the buffer only after those messages have been delivered or refused, so after a crash
// the buffer contains only lines that the bridge has already acted on.
type arrival struct {
	line   Line
	drafts []dropbox.Draft
	then   []func(dropbox.Outcome) // one callback per draft; it reports the outcome to the person
}

// add adds a message that the line requests.
func (a *arrival) add(d dropbox.Draft, then func(dropbox.Outcome)) {
	a.drafts, a.then = append(a.drafts, d), append(a.then, then)
}

// arrivals delivers people's lines to the agents' mailboxes, and adds the lines to the
// buffer. The loop owns it.
type arrivals struct {
	loop       *loop
	rec        *record
	store      *dropbox.Store
	waiting    []arrival   // arrivals waiting for an earlier delivery to end
	delivered  chan func() // functions that the loop runs when a delivery ends
	delivering bool
}

// finish delivers the messages that a line requests, and then adds the line to the
// buffer. Lines keep their order.
func (r *arrivals) finish(a arrival) {
	if len(a.drafts) == 0 && !r.delivering {
		r.rec.keep(a.line) // no earlier line is waiting
		return
	}
	for len(r.waiting) >= maxArrivals {
		(<-r.delivered)()
	}
	r.waiting = append(r.waiting, a)
	r.deliverNext()
}

// deliverNext delivers the waiting arrivals in parallel with the loop. Lines that arrive
// in the meantime form the next batch, because delivering many messages takes as long as
// delivering one.
func (r *arrivals) deliverNext() {
	if r.delivering || len(r.waiting) == 0 {
		return
	}
	batch := r.waiting
	r.waiting, r.delivering = nil, true
	var drafts []dropbox.Draft
	for _, a := range batch {
		drafts = append(drafts, a.drafts...)
	}
	r.loop.doFor(r.delivered, func() func() {
		outcomes := r.store.DeliverBatch(drafts)
		return func() {
			r.delivering = false
			r.rec.changed()
			for _, a := range batch {
				for _, then := range a.then {
					then(outcomes[0])
					outcomes = outcomes[1:]
				}
				r.rec.keep(a.line)
			}
			r.deliverNext()
		}
	})
}
