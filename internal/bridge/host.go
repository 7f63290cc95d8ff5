package bridge

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A run is the host of its link.
var _ Host = (*run)(nil)

// Event implements [Host].
func (r *run) Event(f func()) bool { return r.loop.event(f) }

// Do implements [Host].
func (r *run) Do(f func() func()) { r.loop.do(f) }

// Later implements [Host].
func (r *run) Later(f func()) { r.loop.hand(r.loop.later, f) }

// Heard implements [Host].
func (r *run) Heard(t Text) { r.listener.hear(t) }

// Missed implements [Host].
func (r *run) Missed(channel string, from, to time.Time) (time.Time, bool) {
	return r.listener.notices.gap(channel, from, to)
}

// Landed implements [Host].
func (r *run) Landed(s *Saying, l Landing) (waits bool) { return r.outbox.landed(s, l) }

// Changed implements [Host].
func (r *run) Changed() { r.rec.changed() }

// LookAgain implements [Host].
func (r *run) LookAgain() { r.outbox.plan.lookAgain() }

// Trouble implements [Host].
func (r *run) Trouble(what string, err error) { r.rec.trouble(what, err) }

// Mask implements [Host].
func (r *run) Mask(text string) string { return r.rec.mask(text) }

// Keep implements [Host].
func (r *run) Keep(l Line) { r.rec.keep(l) }

// Kept implements [Host].
func (r *run) Kept(channel, id string) (Kept, bool) { return r.rec.kept(channel, id) }

// HasSaid implements [Host].
func (r *run) HasSaid(channel, msgid string) bool { return r.rec.hasSaid(channel, msgid) }

// MayControl implements [Host].
func (r *run) MayControl(p Person) bool { return r.listener.permits.may(p, Control) }

// Stopping implements [Host].
func (r *run) Stopping() bool { return r.outbox.stopping }

// Noted implements [Host].
func (r *run) Noted(channels []string) {
	if channels == nil {
		channels = []string{}
	}
	if err := keep(joinedFile(r.rec.dir), channels); err != nil {
		r.rec.trouble("channels were not recorded", err)
	}
}

// Agents implements [Host].
func (r *run) Agents() []string {
	if r.o.Agents != nil {
		return r.o.Agents()
	}
	names, err := r.mail.store.Mailboxes()
	if err != nil {
		r.rec.trouble("mailboxes were not listed", err)
	}
	return slices.DeleteFunc(names, func(n string) bool { return dropbox.CheckAgent(n) != nil })
}
