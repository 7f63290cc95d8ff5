package bridge

import (
	"errors"
	"fmt"
	"strings"
)

// orderChannel carries out an order to join or leave a channel, to show its topic, or to
// set its topic to text.
func (r *orders) orderChannel(t Text, word, name, text string) {
	if name = strings.TrimRight(name, ",:"); name == "" {
		r.rep.tell(t, "Say which channel. Try: "+r.link.Self()+": "+word+" #general")
		return
	}
	if !r.link.IsChannel(name) {
		name = "#" + name
	}
	if why := r.link.Rooms().CannotBe(name); why != "" {
		r.rep.tell(t, clip(r.link.Plain(why), 200))
		return
	}
	ch, known := r.link.Rooms().Channel(name)
	switch {
	case word == join:
		r.joinFor(t, name)
	case !ch.In && (word == topic || !known || !ch.Wanted):
		r.rep.tell(t, fmt.Sprintf("I am not in %s. Try: %s: join %s", name, r.link.Self(), name))
	case word == topic:
		r.orderTopic(t, ch, text)
	case ch.Fixed || t.Private || !sameChannel(r.link, t.Target, name):
		r.rep.tell(t, r.partFor(name))
	default: // answer first, because nothing can be sent there after leaving
		r.rep.tellThen(t, "I am leaving "+ch.Name+".", func() { r.partFor(name) })
	}
}

// joinFor joins a channel for a person with the "control" right, and tells the person the
// outcome when it is known. If an earlier attempt to join the channel was refused,
// joinFor retries immediately.
func (r *orders) joinFor(t Text, name string) {
	if ch, _ := r.link.Rooms().Channel(name); ch.In {
		r.rep.tell(t, "I am already in "+ch.Name+".")
		return
	}
	r.link.Rooms().Join(name, true, func(e Entry) {
		switch {
		case e.In:
			r.rep.tell(t, "I am in "+e.Name+" now.")
		case !e.Dropped: // if the connection ended, no answer can be sent
			r.rep.tell(t, e.Advice)
		}
	})
}

// partFor leaves a channel on behalf of a person with the "control" right, and returns
// the outcome in one line.
func (r *orders) partFor(name string) (said string) {
	ch, known := r.link.Rooms().Channel(name)
	switch {
	case !known || !ch.Wanted:
		return "I am not in " + name + "."
	case ch.Fixed:
		return ch.Name + " " + staysIn + "."
	}
	r.link.Rooms().Leave(name)
	return "I have left " + ch.Name + "."
}

// orderTopic shows the topic of a channel, or sets it.
func (r *orders) orderTopic(t Text, ch ChannelState, text string) {
	if text == "" {
		if text = ch.Topic; text == "" {
			text = "none"
		}
		r.rep.tell(t, "The topic of "+ch.Name+": "+text)
		return
	}
	r.link.Rooms().SetTopic(ch.Name, topicLine(r.link, r.rec.mask, text), func(err error) {
		said := "The topic of " + ch.Name + " is set."
		if refused, ok := errors.AsType[*RefusedError](err); ok {
			said = r.mail.title + " did not accept the topic: " + refused.Error()
		} else if err != nil {
			said = "The topic was not set: " + err.Error()
		}
		r.rep.tell(t, said)
	})
}
