package bridge

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// maxUnproven is the maximum number of messages in flight at a time. One private message
// to a person may exceed this limit, so that the person need not wait for the others. If
// the connection is cut and the server has no history, all messages in flight may be sent
// twice.
const maxUnproven = 4

// maxUnsettled is the maximum number of messages that are in flight or being filed.
const maxUnsettled = 32

// maxJoining is the maximum number of join requests among those messages. A join request
// can wait for a long time, so some slots are reserved for other messages.
const maxJoining = maxUnsettled / 2

// A flight is a message that has been claimed but not yet settled.
type flight struct {
	*outbox.Attempt
	origin Origin
	to     destination
	asks   bool // people who see it can answer it; see [poster.asks]
	filing bool // the message's fate is known
	shown  Shown
}

// A poster posts the messages that are waiting in the bridge's mailbox. The loop owns
// it.
type poster struct {
	box       *outbox.Box // all its attempts have the same target, ""
	link      Link
	loop      *loop
	rec       *record
	mail      *mail
	questions *questions
	channels  Channels
	called    func(mailbox string) string
	callees   *callees

	plan      *plan
	flights   map[string]*flight // messages in flight, by id
	folds     map[string]string  // maps the id of each message that will not be posted to the id of its replacement
	foldedFor int                // the connection for which foldUp has already run
	claiming  bool               // claims are being made durable
	stopping  bool
}

// lookAgain looks for messages, and for HALT, after something changed in the mailbox. It also
// repeats what the disk refused: without that, a message that was put back might stay held.
func (o *poster) lookAgain() {
	o.box.LookAgain()
	if err := o.box.Retry(); err != nil {
		o.rec.log.Debug("disk still refused writes", keyErr, err)
	}
	o.plan.lookAgain()
}

// destinationOf decides where a waiting message goes.
func (o *poster) destinationOf(m *dropbox.Message) destination {
	n, _ := o.mail.origin(m)
	var from Origin
	if n.Channel == "" && m.ReplyTo != "" {
		from = o.mail.originOf(m.ReplyTo)
	}
	to := destinationOf(m, n, from, o.channels, o.mail.name)
	if to.private() {
		to.target = o.link.NowCalled(to.target)
		to.person = to.target
	} else if to.person != "" {
		to.person = o.link.NowCalled(to.person)
	}
	to.alone = to.request == "" && to.target != "" && !o.link.IsChannel(to.target)
	return to
}

// takeOff sends the messages that may be sent now, as soon as their claims are durable.
// Messages that become ready in the meantime form the next batch, because making many
// claims durable takes as long as making one durable.
func (o *poster) takeOff() {
	if o.claiming {
		return
	}
	if o.mayClaim() {
		o.foldUp()
	}
	taken := o.takeWaiting()
	if len(taken) == 0 {
		return
	}
	o.claiming = true
	attempts := make([]*outbox.Attempt, len(taken))
	for i, f := range taken {
		attempts[i] = f.Attempt
	}
	o.loop.do(func() func() {
		err := o.box.Begin(attempts...)
		return func() {
			o.claiming = false
			for _, f := range taken {
				if err == nil && o.mayClaim() {
					o.begin(f)
				} else {
					o.release(f)
				}
			}
			if err != nil {
				o.hold("messages were not claimed", err)
			}
		}
	})
}

// mayClaim reports whether the bridge may claim messages now.
func (o *poster) mayClaim() bool {
	return !o.stopping && !o.box.Halted() && o.box.PausedUntil("").IsZero() && o.link.Usable()
}

// holdFor is the pause after a failure to claim a message. Putting the message back wakes
// the bridge, so without a pause the bridge would retry immediately.
const holdFor = time.Second

// hold records that a disk operation failed, and stops sending for a while.
func (o *poster) hold(what string, err error) {
	o.rec.trouble(what, err)
	if !o.box.Pause("") {
		return
	}
	o.loop.do(func() func() {
		select {
		case <-time.After(holdFor):
		case <-o.loop.ctx.Done():
		}
		return o.plan.lookAgain
	})
}

// takeWaiting claims the messages that may be sent now, in the order that the plan
// chooses. The claims are not durable yet.
func (o *poster) takeWaiting() (taken []*flight) {
	for o.mayClaim() && (o.unproven() < maxUnproven || o.noneAlone()) && len(o.flights) < maxUnsettled && !o.suspected() {
		w, ok, err := o.plan.next(o.ready, o.unproven() >= maxUnproven)
		if err != nil {
			o.hold("mailbox was not listed", err)
			break
		}
		if !ok {
			break
		}
		f := o.claim(w)
		if f == nil {
			continue
		}
		taken = append(taken, f)
		if f.to.request != "" {
			break // later messages may depend on the request
		}
	}
	return taken
}

// unproven counts the messages in flight. It excludes requests to join a channel, because
// they post nothing and can wait for a long time until the server lets us in.
func (o *poster) unproven() int {
	n := 0
	for _, f := range o.flights {
		if !f.filing && f.to.request != DoJoin {
			n++
		}
	}
	return n
}

// noneAlone reports whether no message in flight is private.
func (o *poster) noneAlone() bool {
	for _, f := range o.flights {
		if f.to.alone && !f.filing {
			return false
		}
	}
	return true
}

// suspected reports whether one of the messages in flight may have made the server hang up
// before. Such a message is sent alone.
func (o *poster) suspected() bool {
	for _, f := range o.flights {
		if f.Failed > 0 && !f.filing {
			return true
		}
	}
	return false
}

// ready reports whether a message may be sent now. If the other side may have hung up
// because of a message, that message waits until the connection has proved reliable.
// Otherwise the bridge could mistake a bad network for a bad message.
func (o *poster) ready(w waiter) bool {
	if o.box.Holds(w.ID) {
		return false // it is being put back, and the disk has refused to confirm that
	}
	if w.Failed > 0 && (o.unproven() > 0 || !o.link.Sound()) {
		return false
	}
	if w.request != "" {
		joining := 0
		for _, f := range o.flights {
			if !f.filing && sameChannel(o.link, f.to.target, w.target) {
				return false // earlier messages must be sent first
			}
			if f.to.request == DoJoin {
				joining++
			}
		}
		return w.request != DoJoin || joining < maxJoining
	}
	if !o.link.IsChannel(w.target) || o.link.Rooms().Shut(w.target) != "" {
		return true // to be sent, or to be given up
	}
	if o.noChannelOf(w.destination) {
		return true // to be left out
	}
	return o.link.Rooms().MaySay(w.target, w.Begun > 0)
}

// noChannelOf reports whether a copy is addressed to a task's channel that the bridge is
// not in, because the conversation began without a task or is over. The bridge does not
// join a channel for a copy.
func (o *poster) noChannelOf(to destination) bool {
	if !to.copied || o.channels.taskOf(to.target) == "" {
		return false
	}
	ch, known := o.link.Rooms().Channel(to.target)
	return !known || !ch.Wanted
}

// claim claims a message, but does not make the claim durable. It returns nil if there is
// nothing to send.
func (o *poster) claim(w waiter) *flight {
	a, err := o.box.Take(w.Entry, "")
	switch {
	case errors.Is(err, dropbox.ErrHalted):
		o.rec.changed()
		return nil
	case errors.Is(err, dropbox.ErrGone):
		o.plan.claimed(w)
		return nil
	case err != nil:
		o.hold("message was not claimed", err)
		return nil
	}
	o.plan.claimed(w)
	o.rec.changed()
	if a.Done {
		if err := a.File(o.loop.ctx, nil); err != nil {
			o.rec.trouble("message was not filed", err)
		}
		return nil
	}
	f := &flight{Attempt: a, to: w.destination}
	o.flights[f.ID] = f
	return f
}
