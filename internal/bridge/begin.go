package bridge

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// The bridge gives up on a message once the connection has ended this many times while the
// message was being sent. maxHangUps applies if the server announced that it would hang up
// the last time. maxBareHangUp applies if the connection ended without an announcement, as
// on a bad network or after a panic.
const (
	maxHangUps    = 2
	maxBareHangUp = 4
)

// begin starts sending a claimed message.
func (o *poster) begin(f *flight) {
	switch {
	case f.Bad != nil:
		o.giveUp(f, f.Bad.Error())
		return
	case f.Message.Expired(time.Now()):
		o.giveUp(f, tooLate)
		return
	}
	f.origin, _ = o.mail.origin(f.Message)
	if why := o.folded(f.ID); why != "" {
		o.settleWith(f, outcomeNotShown, why)
		return
	}
	if f.to.request != "" {
		o.request(f)
		return
	}
	if o.noChannelOf(f.to) {
		o.settleWith(f, outcomeNotShown, "its conversation has no channel")
		return
	}
	if o.link.IsChannel(f.to.target) {
		if why := o.link.Rooms().Shut(f.to.target); why != "" {
			o.giveUp(f, why)
			return
		}
	}
	sh := show(f.Message, f.origin, f.to, viewer{Names: o.link, mailbox: o.mail.name, self: o.link.Self(), called: o.called})
	if f.origin.Calls {
		if who := o.callees.of(f.Message, f.origin); len(who) > 0 {
			sh.text = strings.Join(who, ", ") + ": " + sh.text
		}
	}
	masked := o.rec.mask(sh.text)
	if masked != sh.text {
		o.rec.state.Masked++
		o.rec.log.Warn("secret was masked", keyMessage, f.ID, "from", f.Message.From)
	}
	if f.asks = o.asks(f); f.asks {
		o.questions.send(o.question(f))
	}
	o.link.Say(&Saying{
		ID: f.ID, Speaker: sh.name, Name: o.called(sh.name), Target: f.to.target, Text: masked, ReadID: cmp.Or(f.origin.About, f.ID), Answers: f.to.answers,
		Priority: f.to.priority, Copy: f.origin.About != "", Agent: sh.name != dropbox.Lead && sh.name != dropbox.Swarm && sh.name != "", Begun: f.Begun, Created: f.Created,
	})
}

// landed decides what happens to a message after an attempt to send it. It reports
// whether the message is waiting again.
func (o *poster) landed(s *Saying, l Landing) (waits bool) {
	f := o.flights[s.ID]
	if f == nil {
		return false // the bridge is stopping
	}
	f.shown = l.Shown
	if f.asks {
		q := o.question(f)
		if l.Fate == Arrived {
			o.asked(f, q)
			return false
		}
		if o.questions.notShown(q.ID, q.Channel) && q.Own { // answered, and therefore filed
			o.forget(f)
			return false
		}
	}
	switch l.Fate {
	case Arrived:
		o.settle(f, outcomeSaid)
	case NeverAgain:
		o.giveUp(f, l.Why)
	case HungUpOn:
		if n := f.Failed + 1; l.HungUp.Spoken && n >= maxHangUps || n >= maxBareHangUp {
			what := hungUpOn
			if l.HungUp.Ours {
				what = endedOn
			}
			o.giveUp(f, fmt.Sprintf("%s %d times while it was being sent (%v)", what, n, l.HungUp.Err))
			return false
		}
		o.putBack(f, true)
		return true
	case PutInPart:
		o.putBack(f, false)
		return true
	case Put:
		o.release(f)
		return true
	}
	return false
}

// asks reports whether people can answer a message where it is shown. That is a question,
// or an alert that an agent has asked the lead one.
func (o *poster) asks(f *flight) bool {
	if f.Message.Type == dropbox.Question {
		return true
	}
	if f.origin.About == "" || f.origin.Announces != Alert || f.Message.From == dropbox.Swarm {
		return false
	}
	found, m, err := o.mail.find(f.origin.About)
	return err == nil && found.Mailbox == dropbox.Lead && m.From == f.Message.From && o.questions.isAsked(m) &&
		(found.State == dropbox.Waiting || found.State == dropbox.Claimed)
}

// question returns the question that a message asks.
func (o *poster) question(f *flight) question {
	q := question{OpenQuestion: OpenQuestion{
		ID: cmp.Or(f.origin.About, f.ID), From: f.Message.From, To: o.mail.name, Channel: f.to.target, At: time.Now().UTC(),
	}}
	if f.origin.About == "" {
		q.Own = true
	} else {
		q.To = cmp.Or(f.origin.To, dropbox.Lead)
		if f.Message.Type != dropbox.Question {
			q.To = dropbox.Lead // the alert is about the agent, but it asks the lead
		}
	}
	return q
}

// asked records that a question was shown.
func (o *poster) asked(f *flight, q question) {
	o.questions.shown(q.ID, q.Channel)
	if q.Own {
		o.forget(f)
	} else {
		o.settle(f, outcomeSaid)
	}
}

// forget counts a question that was sent to the bridge's mailbox as sent. It stays claimed
// until it is answered.
func (o *poster) forget(f *flight) {
	delete(o.flights, f.ID)
	if err := f.Leave(); err != nil {
		o.rec.trouble("question was not left", err)
	}
	o.rec.state.Sent++
}

// putBack puts back a message that may have been partly sent. hungUp reports whether the
// connection may have ended because of it.
func (o *poster) putBack(f *flight, hungUp bool) {
	delete(o.flights, f.ID)
	if err := f.PutBack(hungUp); err != nil {
		o.rec.trouble("message was not put back", err)
	}
	o.plan.lookAgain()
}

// release puts back a message when this attempt sent no part of it.
func (o *poster) release(f *flight) {
	delete(o.flights, f.ID)
	if err := f.Release(); err != nil {
		o.rec.trouble("message was not put back", err)
	}
	o.plan.lookAgain()
}
