package ircbridge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// What people are told of lines of theirs that nobody obeys. Strangers are told nothing,
// and nobody more often than this, or two programs would talk for ever.
const tellAgain = time.Minute

// missedFor is how long nothing more must come of what somebody said while the bridge was
// away, until they are told of it all. missedRounds bounds how often that is waited for.
const (
	missedFor    = 2 * time.Second
	missedRounds = 5
)

// An absence is what a person said while the bridge was away.
type absence struct {
	gen   int // the connection on which it was fetched
	first irc.Text
	lines int
}

// missed notes what somebody said while the bridge was away, and that nobody obeys it: it
// may be out of date. They are told once for each connection, of all their lines together.
func (r *run) missed(t irc.Text) {
	key := r.fold().Fold(t.Nick)
	r.Log.Info("missed", keyNick, t.Nick, "account", t.Account, keyChannel, t.Peer(), "said", t.Time.UTC())
	if a := r.away[key]; a != nil && a.gen == r.main.gen {
		a.lines++
		return
	}
	if len(r.away) >= 256 {
		clear(r.away)
	}
	r.away[key] = &absence{gen: r.main.gen, first: t, lines: 1}
	r.tellMissed(r.away[key], 1)
}

// tellMissed tells a person what was missed of them, when no more of it comes.
func (r *run) tellMissed(a *absence, round int) {
	lines := a.lines
	r.do(func() func() {
		select {
		case <-time.After(missedFor):
		case <-r.ctx.Done():
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
			r.tell(a.first, fmt.Sprintf("I was away when you said that: %s (%s UTC)%s. Say it again if it still holds.",
				clip(irc.PlainText(a.first.Body), 100), a.first.Time.UTC().Format("15:04"), more))
		}
	})
}

// lacks tells somebody who may do other things that they lack a right.
func (r *run) lacks(t irc.Text, need Right, has []Right, now time.Time) {
	key := r.fold().Fold(t.Nick) + " " + string(need)
	if now.Sub(r.lacking[key]) < tellAgain {
		return
	}
	if r.lacking == nil || len(r.lacking) >= 256 {
		r.lacking = map[string]time.Time{}
	}
	r.lacking[key] = now
	what := map[Right]string{Talk: "To speak to agents", Tasks: "To give a task", Control: "To steer the swarm"}[need]
	var have []string
	for _, right := range has {
		have = append(have, string(right))
	}
	r.tell(t, fmt.Sprintf("%s one needs the right %s; you have %s. It is given under irc.allow in claude-swarm.yaml.", what, need, strings.Join(have, " and ")))
}

// A crowd is what people said to agents in one channel above the bound.
type crowd struct {
	told time.Time
	over map[string]*overflow // since then, by folded nick
}

// An overflow is what one of them said.
type overflow struct {
	last  irc.Text
	agent string
	lines int
}

// tooMany notes a line that wakes no agent, as there were too many. The first of a minute
// is told of at once, the others together when the minute is over.
func (r *run) tooMany(t irc.Text, agent string, now time.Time) {
	at := t.Peer()
	r.Log.Warn("denied", keyWhy, "too many in a minute", keyNick, t.Nick, keyChannel, at, "agent", agent)
	r.state.Denied++
	c := r.crowds[at]
	if c == nil {
		c = &crowd{over: map[string]*overflow{}}
		r.crowds[at] = c
	}
	if now.Sub(c.told) >= tellAgain && len(c.over) == 0 {
		c.told = now
		r.tell(t, fmt.Sprintf("%s was not woken: there were %d messages to agents in a minute. Say it again in a while.%s", agent, r.WakesPerMinute, r.wayOut(t, agent)))
		return
	}
	key := r.fold().Fold(t.Nick)
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

// tellCrowds tells those whose lines woke nobody in the last minute how many they were.
func (r *run) tellCrowds(now time.Time) {
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
			what := "One more line of yours"
			if o.lines > 1 {
				what = fmt.Sprintf("%d more lines of yours", o.lines)
			}
			r.tell(o.last, fmt.Sprintf("%s woke nobody, the last %q. Say again what still holds.%s", what, clip(irc.PlainText(o.last.Body), 100), r.wayOut(o.last, o.agent)))
		}
		c.told = now
		clear(c.over)
	}
}

// wayOut says what whoever may steer can do where words do not come through.
func (r *run) wayOut(t irc.Text, agent string) string {
	who := person(t)
	who.Account = t.Account
	if !slices.Contains(rightsOf(r.Allow, who, r.fold(), r.where()), Control) {
		return ""
	}
	return fmt.Sprintf(" At any time: %s: abort %s", r.main.nick, agent)
}
