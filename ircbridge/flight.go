package ircbridge

import (
	"cmp"
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// maxUnproven is how many messages are on their way at once, and one more for a person alone,
// which is not to wait for them: as many may be said twice when the connection is cut and the
// server has no history.
const maxUnproven = 4

// maxUnsettled is how many messages may be on their way or being filed.
const maxUnsettled = 32

// maxJoining is how many of them may be requests to join, which wait as long as the
// server takes: others are to have room.
const maxJoining = maxUnsettled / 2

// How often the other side may hang up on a message before it is given up: when the
// server says that it does, and when the connection only ends, as a bad network does it.
const (
	maxHangUps    = 2
	maxBareHangUp = 4
)

// A flight is a message that was claimed and is not settled yet.
type flight struct {
	*dropbox.Claim
	note  Origin
	place place

	name   string    // whose words
	text   string    // all that is to be said, masked and cut short
	conn   *irc.Conn // by which it was said last; nil when it was not
	seq    uint64
	as     string // relayed under this nick
	pieces []piece
	landed int // pieces whose fate is known
	failed error

	said   int // bytes that are proven, from the beginning
	unsure int // bytes that may have been said before
	sent   int // bytes that were written now, at least in part
	marked bool
	filing bool      // its fate is known
	at     time.Time // when it was sent first
	msgids []string
	lines  int
}

// resume is what is known of a message that was put back.
type resume struct {
	said, unsure int
	at           time.Time // when it was sent first; zero is not known
}

// placeOf decides where a waiting message goes.
func (r *run) placeOf(m *dropbox.Message) place {
	n, _ := OriginOf(m)
	var origin Origin
	if n.Channel == "" && m.ReplyTo != "" {
		origin = r.originOf(m.ReplyTo)
	}
	p := placeOf(m, n, origin, r.Channels)
	if p.private() {
		p.target = r.nowCalled(p.target)
		p.person = p.target
	} else if p.person != "" {
		p.person = r.nowCalled(p.person)
	}
	p.alone = p.request == "" && p.target != "" && !r.isChannel(p.target)
	return p
}

// find looks for a message and reads it. One that is being moved may be seen nowhere, or
// be gone from where it was seen, so it is looked for again: the answer to a message
// comes at the very moment in which the message is filed.
func (r *run) find(id string) (f dropbox.Found, m *dropbox.Message, err error) {
	for range 5 {
		if f, err = r.Store.Find(id); err == nil {
			m, err = r.Store.Load(f)
		}
		if !errors.Is(err, dropbox.ErrNotFound) && !errors.Is(err, dropbox.ErrGone) {
			break
		}
	}
	return f, m, err
}

// originOf is where the message with that id came from on IRC, zero if it did not.
func (r *run) originOf(id string) Origin {
	_, m, err := r.find(id)
	if err != nil || m.From != dropbox.IRC {
		return Origin{}
	}
	n, _ := OriginOf(m)
	return n
}

// takeOff sends what may be sent now, as soon as the claims of it are durable. What may
// be sent meanwhile goes after that, all together: one flush costs as much as many.
func (r *run) takeOff() {
	if r.claiming {
		return
	}
	if r.mayClaim() {
		r.foldUp()
	}
	taken := r.takeWaiting()
	if len(taken) == 0 {
		return
	}
	r.claiming = true
	r.do(func() func() {
		err := r.box.SyncClaims()
		return func() {
			r.claiming = false
			for _, f := range taken {
				if err == nil && r.mayClaim() {
					r.begin(f)
				} else {
					r.release(f)
				}
			}
			if err != nil {
				r.hold("messages were not claimed", err)
			}
		}
	})
}

// mayClaim says whether something may be said at all.
func (r *run) mayClaim() bool {
	return !r.stopping && !r.halted && !r.held && r.main.usable() && len(r.cut) == 0
}

// holdFor is how long the disk is left alone that did not let a message be claimed. To
// put it back rings, so without a pause it would be tried for ever without a breath.
const holdFor = time.Second

// hold notes that the disk refused something, and sends nothing for a while.
func (r *run) hold(what string, err error) {
	r.trouble(what, err)
	if r.held {
		return
	}
	r.held = true
	r.do(func() func() {
		select {
		case <-time.After(holdFor):
		case <-r.ctx.Done():
		}
		return func() {
			r.held = false
			r.plan.ring()
		}
	})
}

// takeWaiting claims what may be sent now, in its order. The claims are not durable yet.
func (r *run) takeWaiting() (taken []*flight) {
	for r.mayClaim() && (r.unproven() < maxUnproven || r.noneAlone()) && len(r.flights) < maxUnsettled && !r.suspected() {
		w, ok, err := r.plan.next(r.ready, r.unproven() >= maxUnproven)
		if err != nil {
			r.hold("mailbox was not listed", err)
			break
		}
		if !ok {
			break
		}
		f := r.claim(w)
		if f == nil {
			continue
		}
		taken = append(taken, f)
		if f.place.request != "" {
			break // what is said after it may depend on it
		}
	}
	return taken
}

// unproven counts the messages that are on their way. A request that waits until a server
// lets us in says nothing, and may wait for long.
func (r *run) unproven() int {
	n := 0
	for _, f := range r.flights {
		if !f.filing && f.place.request != DoJoin {
			n++
		}
	}
	return n
}

// noneAlone says whether no message that is on its way is for a person alone.
func (r *run) noneAlone() bool {
	for _, f := range r.flights {
		if f.place.alone && !f.filing {
			return false
		}
	}
	return true
}

// suspected says whether the server hung up before on a message that is on its way: it
// goes alone.
func (r *run) suspected() bool {
	for _, f := range r.flights {
		if f.Failed > 0 && !f.filing {
			return true
		}
	}
	return false
}

// A message on which the server may have hung up waits until the connection has proven
// good: so many others were said by it, or it stood for so many times the first pause
// between two tries. Else a bad network would look like a bad message.
const (
	othersFirst = 8
	standFirst  = 5
)

// ready says whether a message may be said now.
func (r *run) ready(w waiter) bool {
	if w.Failed > 0 {
		stand := standFirst * cmp.Or(r.Server.RetryMin, time.Second)
		if r.unproven() > 0 || r.main.proven < othersFirst && time.Since(r.main.since) < stand {
			return false
		}
	}
	if w.request != "" {
		joining := 0
		for _, f := range r.flights {
			if !f.filing && r.sameChannel(f.place.target, w.target) {
				return false // what was said before comes before it
			}
			if f.place.request == DoJoin {
				joining++
			}
		}
		return w.request != DoJoin || joining < maxJoining
	}
	if !r.isChannel(w.target) || r.noChannel(w.target) != "" {
		return true
	}
	if r.noChannelOf(w.place) {
		return true // to be left out
	}
	rm := r.room(w.target)
	if rm.failed != "" {
		return true // to be given up
	}
	r.want(rm)
	return rm.joined && rm.caught && (w.Begun == 0 || !r.lingers(w.target))
}

// claim takes a message, not yet for sure; nil when there is nothing to be said.
func (r *run) claim(w waiter) *flight {
	c, err := r.box.Take(w.Entry)
	switch {
	case errors.Is(err, dropbox.ErrHalted):
		r.halted, r.dirty = true, true
		return nil
	case errors.Is(err, dropbox.ErrGone):
		r.plan.take(w)
		return nil
	case err != nil:
		r.hold("message was not claimed", err)
		return nil
	}
	r.plan.take(w)
	r.dirty = true
	if done, err := r.box.HasReceipt(c.Entry); err == nil && done {
		if err := r.box.File(c.Entry); err != nil {
			r.trouble("message was not filed", err)
		}
		return nil
	}
	f := &flight{Claim: c, place: w.place}
	r.flights[c.ID] = f
	return f
}

// begin says a message that was claimed.
func (r *run) begin(f *flight) {
	switch {
	case f.Bad != nil:
		r.giveUp(f, f.Bad.Error())
		return
	case f.Message.Expired(time.Now()):
		r.giveUp(f, tooLate)
		return
	}
	f.note, _ = OriginOf(f.Message)
	if why := r.folded(f.ID); why != "" {
		r.settleWith(f, outcomeNotShown, why)
		return
	}
	if f.place.request != "" {
		r.request(f)
		return
	}
	if r.noChannelOf(f.place) {
		r.settleWith(f, outcomeNotShown, "its conversation has no channel")
		return
	}
	if r.isChannel(f.place.target) {
		if why := r.noChannel(f.place.target); why != "" {
			r.giveUp(f, why)
			return
		}
		if rm := r.room(f.place.target); rm.failed != "" {
			r.giveUp(f, notLetIn+rm.name+": "+rm.failed)
			return
		}
	}
	sh := show(f.Message, f.note, f.place, r.main.nick, r.Called)
	f.name = sh.name
	masked := r.mask.Mask(sh.text)
	if masked != sh.text {
		r.state.Masked++
		r.Log.Warn("secret was masked", keyMessage, f.ID, "from", f.Message.From)
	}
	f.text = masked
	if f.Begun > 1 {
		r.recall(f)
		return
	}
	r.sayInTurn(f)
}
