package ircbridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// tries is how often the disk is asked to settle a message, with a pause that doubles
// from the first one. What is not settled then stays claimed, and the next sweep goes
// on with it.
const (
	settleTries = 6
	settlePause = 100 * time.Millisecond
)

// onDisk does the last step of a message away from the loop, and again if the disk
// refuses.
func (r *run) onDisk(f *flight, what string, step func() error, then func()) {
	f.filing = true
	r.do(func() func() {
		err := step()
		for pause := settlePause; err != nil && pause < settlePause<<settleTries; pause *= 2 {
			select {
			case <-time.After(pause):
			case <-r.ctx.Done():
			}
			err = step()
		}
		return func() {
			delete(r.flights, f.ID)
			r.dirty = true
			if err != nil {
				r.trouble(what, err)
				return
			}
			then()
		}
	})
}

// giveUp sets a message aside that cannot be said, and tells its sender. Of a copy
// nobody is told: the message itself is where it belongs.
func (r *run) giveUp(f *flight, reason string) {
	reason = r.mask.Mask(irc.PlainText(reason))
	if f.Message != nil && f.note.About != "" && !strings.HasPrefix(reason, hungUpOn) {
		r.settleWith(f, outcomeNotShown, reason)
		return
	}
	r.Log.Warn("message was given up", keyMessage, f.ID, keyWhy, reason)
	r.onDisk(f, "message was not given up", func() error { return r.bury(f.Claim, reason) }, func() {})
}

// bury takes the steps of giving up; each may be repeated.
func (r *run) bury(c *dropbox.Claim, reason string) error {
	at, err := r.box.Condemn(c.Entry, reason)
	if err != nil {
		return err
	}
	if err := r.bounce(c, reason, at); err != nil {
		return err
	}
	return r.box.Bury(c.Entry, reason)
}

// finishBurial goes on where a crash cut off giving up a message.
func (r *run) finishBurial(e dropbox.Entry) error {
	c, err := r.box.Open(e)
	if err != nil {
		return err
	}
	reason, err := r.box.Reason(e)
	if err != nil {
		return err
	}
	return r.bury(c, reason)
}

// bounce tells the sender that a message was not said, once for each time that it was
// given up.
func (r *run) bounce(c *dropbox.Claim, reason string, at time.Time) error {
	m := c.Message
	if m == nil || m.From == "" || m.From == dropbox.Swarm || m.From == dropbox.IRC {
		return nil
	}
	n, _ := OriginOf(m)
	if n.About != "" {
		return nil
	}
	next := afterwards(m, n, placeOf(m, n, Origin{}, r.Channels).target, reason)
	b := &dropbox.Message{
		From: dropbox.IRC, To: []string{m.From}, Type: dropbox.Status, Subject: "not said on IRC", Thread: m.Thread, Trace: m.Trace,
		ReplyTo: m.ID, Key: fmt.Sprintf("dead:%s:%d", c.ID, at.UnixMicro()),
		Body: []byte(fmt.Sprintf("Not said on IRC: %s.\n\nThe message is kept: claude-swarm dead show %s\n%s\n", strings.TrimRight(reason, "."), c.ID, next)),
	}
	if m.Type.WantsAnswer() {
		b.Type = dropbox.Result
	}
	_, err := r.deliver(m.From, b)
	if errors.Is(err, dropbox.ErrNoMailbox) || errors.Is(err, dropbox.ErrName) || errors.Is(err, dropbox.ErrInvalid) {
		return nil // there is nobody to tell
	}
	return err
}

// deliver delivers a message of the bridge's.
func (r *run) deliver(to string, m *dropbox.Message) (dropbox.Delivery, error) {
	return r.Store.DeliverSigned(to, m, r.draft(to, m).Sign)
}

// request does what a message asks of the bridge itself.
func (r *run) request(f *flight) {
	target := f.place.target
	if why := r.cannotBe(target); why != "" {
		r.giveUp(f, why)
		return
	}
	switch f.place.request {
	case DoJoin:
		rm := r.room(target)
		r.want(rm)
		if rm.joined {
			r.settle(f, outcomeJoined)
			return
		}
		rm.joiners = append(rm.joiners, f)
	case DoPart:
		if rm := r.known(target); rm != nil && rm.fixed {
			r.giveUp(f, target+" "+staysIn)
			return
		}
		r.leave(r.room(target), "")
		r.settle(f, outcomeLeft)
	case DoTopic:
		r.topic(f)
	default:
		r.giveUp(f, fmt.Sprintf("the bridge cannot %q; it can join, part and topic", f.place.request))
	}
}

// topicText is a text as a topic: one line that the server takes, without secrets.
func (r *run) topicText(text string) string {
	text = r.mask.Mask(strings.Join(strings.Fields(irc.PlainText(text)), " "))
	if most := r.main.state.ISupport.Number("TOPICLEN", 390); len(text) > most {
		text = irc.Split(text, most)[0].Text
	}
	return text
}

func (r *run) topic(f *flight) {
	text := r.topicText(string(f.Message.Body))
	client, target := r.main.client, f.place.target
	r.do(func() func() {
		ctx, cancel := context.WithTimeout(r.ctx, joinPatience)
		defer cancel()
		_, err := client.Do(ctx, irc.Msg("TOPIC", target, text))
		return func() {
			refused, isRefused := errors.AsType[*irc.Rejected](err)
			switch {
			case err == nil:
				r.settle(f, outcomeTopic)
			case isRefused:
				r.giveUp(f, "IRC did not take the topic: "+refused.Error())
			case errors.Is(err, irc.ErrMessage) || errors.Is(err, irc.ErrTooLong):
				r.giveUp(f, err.Error())
			default: // the connection ended, or we do
				r.release(f)
			}
		}
	})
}
