package ircbridge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// orderChannel does what a person ordered about a channel: to join or leave it, or to tell
// or set its topic, which is text.
func (r *run) orderChannel(t irc.Text, word, name, text string) {
	if name = strings.TrimRight(name, ",:"); name == "" {
		r.tell(t, "Say which channel. Try: "+r.main.nick+": "+word+" #general")
		return
	}
	if !r.isChannel(name) {
		name = "#" + name
	}
	if why := r.cannotBe(name); why != "" {
		r.tell(t, clip(irc.PlainText(why), 200))
		return
	}
	rm := r.known(name)
	in := rm != nil && rm.joined
	switch {
	case word == join:
		r.joinFor(name, func(said string) { r.tell(t, said) })
	case !in && (word == topic || rm == nil || !rm.wanted):
		r.tell(t, fmt.Sprintf("I am not in %s. Try: %s: join %s", name, r.main.nick, name))
	case word == topic:
		r.orderTopic(t, rm, text)
	case rm.fixed || t.Private || !r.sameChannel(t.Target, name):
		r.tell(t, r.partFor(name))
	default: // an answer after that could not be said there
		r.tellThen(t, "I leave "+rm.name+".", func() { r.partFor(name) })
	}
}

// tellThen tells a person something, and does the next thing when that is said.
func (r *run) tellThen(t irc.Text, line string, then func()) {
	d := r.tellLines(t, r.fitting(t, []string{line}))
	r.do(func() func() {
		<-d.Done() // at the latest when the connection ends
		return then
	})
}

// orderTopic tells the topic of a channel, or sets it to a text.
func (r *run) orderTopic(t irc.Text, rm *room, text string) {
	if text == "" {
		if text = rm.told(r.main).Topic; text == "" {
			text = "none"
		}
		r.tell(t, "The topic of "+rm.name+": "+text)
		return
	}
	client, message := r.main.client, irc.Msg("TOPIC", rm.name, r.topicText(text))
	r.do(func() func() {
		ctx, cancel := context.WithTimeout(r.ctx, joinPatience)
		defer cancel()
		_, err := client.Do(ctx, message)
		return func() {
			said := "The topic of " + rm.name + " is set."
			if refused, ok := errors.AsType[*irc.Rejected](err); ok {
				said = "IRC did not take the topic: " + refused.Error()
			} else if err != nil {
				said = "The topic is not set: " + err.Error()
			}
			r.tell(t, said)
		}
	})
}
