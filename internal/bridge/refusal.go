package bridge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tellAgain is the minimum time before the bridge tells a person the same thing again.
// Without a pause, two programs could answer each other endlessly. The bridge sends no
// notices to strangers.
const tellAgain = time.Minute

// notices tells people what happened to their lines, for example that a line is not
// obeyed, that an agent is held up, or that an agent has received their task. The loop
// owns it.
type notices struct {
	link     Link
	loop     *loop
	rec      *record
	rep      *replies
	mail     *mail
	permits  permits
	channels Channels
	swarm    Swarm
	acks     *acks
	called   func(mailbox string) string
	most     int // the maximum number of messages to agents from one channel in a minute; a value below 1 means no limit

	wakes   map[string][]time.Time // by channel: the times of messages to agents
	crowds  map[string]*crowd      // by channel: the lines that exceeded the limit
	away    map[string]*absence    // by folded nick: what that person wrote while we were away
	lacking map[string]time.Time   // by folded nick and right: when we told that person that they lack the right
	deaf    map[string]time.Time   // by agent, folded nick and channel: when we told that person that the agent does not hear the channel
	spoken  map[string]spoken      // the last line that each person addressed to agents, by folded channel and nick
	gaps    map[string]int         // by folded channel: the connection for which its people were told about a gap
	holdups map[string]holdup      // the hold-ups of agents that people were told about, by agent and folded nick
}

// The bridge tells a person about all their missed lines together, once no further line
// has arrived for missedFor. It waits for missedFor at most missedRounds times.
const (
	missedFor    = 2 * time.Second
	missedRounds = 5
)

// An absence counts the lines that a person wrote while the bridge was away.
type absence struct {
	gen   int // the number of the connection that fetched the lines
	first Text
	lines int
}

// noteMissed counts a line that was written while the bridge was away. The line is not
// obeyed, because it may be out of date. The bridge tells the person this once per
// connection, after their last missed line has arrived.
func (r *notices) noteMissed(t Text) {
	key := r.link.Fold(t.Nick)
	gen, _ := r.link.Connection()
	r.rec.log.Info("missed", keyNick, t.Nick, "account", t.Account, keyChannel, t.Peer(), "said", t.Time.UTC())
	if a := r.away[key]; a != nil && a.gen == gen {
		a.lines++
		return
	}
	if len(r.away) >= 256 {
		clear(r.away)
	}
	r.away[key] = &absence{gen: gen, first: t, lines: 1}
	r.tellMissed(r.away[key], 1)
}

// tellMissed tells a person which of their lines were not obeyed, once no more such lines
// are arriving.
func (r *notices) tellMissed(a *absence, round int) {
	lines := a.lines
	r.loop.do(func() func() {
		select {
		case <-time.After(missedFor):
		case <-r.loop.ctx.Done():
			return nil
		}
		return func() {
			if a.lines > lines && round < missedRounds {
				r.tellMissed(a, round+1)
				return
			}
			more := ""
			if a.lines > 1 {
				more = fmt.Sprintf(", and %d more", a.lines-1)
			}
			r.rep.tell(a.first, fmt.Sprintf("I was away when you said that: %s (%s UTC)%s. Say it again if it still applies.",
				clip(r.link.Plain(a.first.Body), 100), a.first.Time.UTC().Format("15:04"), more))
		}
	})
}

// lacks tells a person which right they lack, if they have other rights.
func (r *notices) lacks(t Text, need Right, has []Right, now time.Time) {
	key := r.link.Fold(t.Nick) + " " + string(need)
	if now.Sub(r.lacking[key]) < tellAgain {
		return
	}
	if r.lacking == nil || len(r.lacking) >= 256 {
		r.lacking = map[string]time.Time{}
	}
	r.lacking[key] = now
	what := map[Right]string{Talk: "To speak to agents", Tasks: "To give a task", Control: "To control the swarm"}[need]
	var have []string
	for _, right := range has {
		have = append(have, strconv.Quote(string(right)))
	}
	r.rep.tell(t, fmt.Sprintf("%s, you need the %q right; you have %s. It is granted under %s.allow in claude-swarm.yaml.", what, need, strings.Join(have, " and "), r.mail.name))
}

// wake counts a message to an agent from a channel. If there are too many, it returns
// false and tells the person.
func (r *notices) wake(t Text, agent string, now time.Time) bool {
	at := t.Peer()
	if r.most > 0 && r.awake(at, now) >= r.most {
		r.tooMany(t, agent, now)
		return false
	}
	r.wakes[at] = append(r.wakes[at], now)
	return true
}

// awake counts the messages to agents that came from a channel in the last minute.
func (r *notices) awake(channel string, now time.Time) int {
	r.wakes[channel] = slices.DeleteFunc(r.wakes[channel], func(at time.Time) bool { return now.Sub(at) >= time.Minute })
	return len(r.wakes[channel])
}

// sweep sends the notices that are due, and deletes old entries.
func (r *notices) sweep(now time.Time) {
	r.tellCrowds(now)
	for at := range r.wakes {
		if r.awake(at, now) == 0 {
			delete(r.wakes, at)
		}
	}
}

// A crowd counts the lines to agents that exceed one channel's limit.
type crowd struct {
	told time.Time
	over map[string]*overflow // by folded nick: the lines since told
}

// An overflow counts the lines of one person in a crowd.
type overflow struct {
	last  Text
	agent string
	lines int
}

// tooMany counts a line that wakes no agent because too many lines came from its channel.
// It immediately reports the first such line in a minute. The others are reported
// together when the minute is over.
func (r *notices) tooMany(t Text, agent string, now time.Time) {
	at := t.Peer()
	r.rec.log.Warn("denied", keyWhy, "too many in a minute", keyNick, t.Nick, keyChannel, at, "agent", agent)
	r.rec.state.Denied++
	c := r.crowds[at]
	if c == nil {
		c = &crowd{over: map[string]*overflow{}}
		r.crowds[at] = c
	}
	if now.Sub(c.told) >= tellAgain && len(c.over) == 0 {
		c.told = now
		r.rep.tell(t, fmt.Sprintf("%s was not woken: there were %d messages to agents in a minute. Say it again in a while.%s", agent, r.most, r.wayOut(t, agent)))
		return
	}
	key := r.link.Fold(t.Nick)
	o := c.over[key]
	if o == nil {
		if len(c.over) >= 64 {
			return
		}
		o = &overflow{}
		c.over[key] = o
	}
	o.last, o.agent = t, agent
	o.lines++
}

// tellCrowds tells people how many of their lines woke no agent in the last minute.
func (r *notices) tellCrowds(now time.Time) {
	for at, c := range r.crowds {
		if now.Sub(c.told) < tellAgain {
			continue
		}
		if len(c.over) == 0 {
			if r.awake(at, now) == 0 {
				delete(r.crowds, at)
			}
			continue
		}
		for _, o := range c.over {
			what := "One more of your lines"
			if o.lines > 1 {
				what = fmt.Sprintf("%d more of your lines", o.lines)
			}
			r.rep.tell(o.last, fmt.Sprintf("%s woke nobody, the last %q. Say again what still applies.%s", what, clip(r.link.Plain(o.last.Body), 100), r.wayOut(o.last, o.agent)))
		}
		c.told = now
		clear(c.over)
	}
}

// wayOut returns advice for a person with the "control" right on how to abort an agent
// that messages do not reach.
func (r *notices) wayOut(t Text, agent string) string {
	if !r.permits.may(t.Who, Control) {
		return ""
	}
	return fmt.Sprintf(" At any time: %s: abort %s", r.link.Self(), agent)
}

// tellWrongChannel tells a person that the agent does not hear this channel, at most once
// per tellAgain.
func (r *notices) tellWrongChannel(t Text, agent string, now time.Time) {
	r.rec.log.Info("not heard", "agent", agent, keyNick, t.Nick, keyChannel, t.Target)
	key := agent + " " + r.link.Fold(t.Nick+" "+t.Target)
	if now.Sub(r.deaf[key]) < tellAgain {
		return
	}
	if r.deaf == nil || len(r.deaf) >= 256 {
		r.deaf = map[string]time.Time{}
	}
	r.deaf[key] = now
	r.rep.tell(t, fmt.Sprintf("%s does not listen in %s. Speak to it in %s, or privately: /msg %s %s: …",
		agent, t.Target, strings.Join(r.channels.Own[agent], " or "), r.link.Self(), agent))
}
