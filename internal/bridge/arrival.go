package bridge

import "github.com/claude-swarm/claude-swarm/dropbox"

// maxArrivals is how many lines wait until the messages of earlier ones are delivered. With
// one more, the link waits, and so does its server.
const maxArrivals = 256

// An arrival is a line that goes into the buffer after the messages that it asked for were
// delivered. So after a crash, every line in the buffer was carried out.
type arrival struct {
	line   Line
	drafts []dropbox.Draft
	then   []func(dropbox.Outcome) // tells the person the outcome of a draft
}

// add adds a message that the line asks for.
func (a *arrival) add(d dropbox.Draft, then func(dropbox.Outcome)) {
	a.drafts, a.then = append(a.drafts, d), append(a.then, then)
}

// arrivals delivers the lines of people to the mailboxes of agents, and puts them into the
// buffer. The loop owns it.
type arrivals struct {
	loop       *loop
	rec        *record
	store      *dropbox.Store
	waiting    []arrival   // arrivals that wait for the end of an earlier delivery
	delivered  chan func() // the end of the delivery that is under way
	delivering bool
}

// finish delivers the messages that a line asked for and keeps the line, after those before
// it.
func (r *arrivals) finish(a arrival) {
	if len(a.drafts) == 0 && !r.delivering {
		r.rec.keep(a.line) // there is nothing before it
		return
	}
	for len(r.waiting) >= maxArrivals {
		(<-r.delivered)()
	}
	r.waiting = append(r.waiting, a)
	r.deliverNext()
}

// deliverNext delivers the arrivals, away from the loop. Arrivals that come in the meantime are
// delivered after that, all together: one delivery takes as long as many.
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
	r.loop.work.Go(func() {
		outcomes := r.store.DeliverBatch(drafts)
		hand(r.delivered, func() {
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
		})
	})
}
