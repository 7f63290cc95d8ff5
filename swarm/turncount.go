package swarm

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// The last bound on loops. Every other rule looks at what a message says of itself, or
// at who can be shown to have sent it; this one counts turns, whatever the messages
// claim. An agent that begins too many of them within an hour without a word of a
// person is paused, and a person has to let it go on.
//
// A word of a person is a message that is proven to be the lead's, or an order to
// resume or start the agent that comes from outside of every turn. A file dropped by
// hand is not: nothing shows who wrote it. Since a program of the same user can read
// the lead's secret, and what has left a daemon that is gone looks like a person, no
// word lifts the second bound, which is ten times as high.

const (
	countedFor = time.Hour
	absolutely = 10 // times turns_per_hour: the bound for all turns
)

// turnCounts counts the turns that each agent begins. It is safe for several
// goroutines.
type turnCounts struct {
	mu sync.Mutex
	by map[string][]turnBegun // oldest first, at most those of the last hour
}

// A turnBegun is a turn that an agent began, or a message that reached a running one.
type turnBegun struct {
	at     time.Time
	person bool // it was begun by a word of a person
}

// count notes that an agent begins a turn.
func (c *turnCounts) count(agent string, at time.Time, person bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string][]turnBegun{}
	}
	c.by[agent] = append(c.lately(agent, at), turnBegun{at, person})
}

// word begins the count of turns without a person again. That of all turns goes on:
// whoever could give such an order once a minute would else have no bound. It tells
// whether there was something to count.
func (c *turnCounts) word(agent string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.by[agent]
	if len(all) == 0 {
		return false
	}
	all[len(all)-1].person = true
	return true
}

// over says why the next turn of an agent would be one too many; "" when it would not.
// person says that a word of a person begins it. perHour is policy.turns_per_hour; 0
// is any number.
func (c *turnCounts) over(agent string, perHour int, person bool, now time.Time) string {
	if perHour <= 0 {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.lately(agent, now)
	if len(all) >= absolutely*perHour {
		return fmt.Sprintf("%d turns within an hour, ten times policy.turns_per_hour; it can go on after %s, or with a higher number", len(all), screen.Ahead(all[0].at.Add(countedFor), time.Now()))
	}
	alone := len(all)
	for i, t := range slices.Backward(all) {
		if t.person {
			alone = len(all) - i - 1
			break
		}
	}
	if alone >= perHour && !person {
		return fmt.Sprintf("%d turns within an hour without a word of a person (policy.turns_per_hour)", alone)
	}
	return ""
}

// lately are the turns of the last hour. Those that a clock which was set back has put
// into the future count as begun now. The mutex is held.
func (c *turnCounts) lately(agent string, now time.Time) []turnBegun {
	all := c.by[agent]
	old := 0
	for i, t := range all {
		switch {
		case t.at.After(now):
			all[i].at = now
		case now.Sub(t.at) >= countedFor:
			old = i + 1
		}
	}
	if old > 0 {
		all = slices.Delete(all, 0, old)
		if c.by[agent] = all; len(all) == 0 {
			delete(c.by, agent)
		}
	}
	return all
}

// recall takes up what a ledger tells of the last hour, so that a restart does not
// begin the count again. since is the last order of a person.
func (c *turnCounts) recall(line LedgerLine, since time.Time) {
	begun := line.At.Add(-time.Duration(line.Seconds * float64(time.Second)))
	c.count(line.Agent, begun, line.ByLead || !begun.After(since))
}

// byLead tells whether a message is a word of a person to the agent.
func (a *agent) byLead(m *dropbox.Message) bool { return m.From == dropbox.Lead && a.proves(m) }

// byLead tells whether a word of a person begins the turn.
func (j *job) byLead() bool { return j.proven && j.claim.Message.From == dropbox.Lead }

// holdForTurns pauses the agent when a turn for this message would be one too many,
// and tells the lead once. The pause has no end of its own.
func (a *agent) holdForTurns(m *dropbox.Message) bool {
	perHour := a.plan().TurnsPerHour
	if perHour <= 0 {
		return false
	}
	now := time.Now().UTC()
	why := a.counts.over(a.name, perHour, a.byLead(m), now)
	if why == "" {
		return false
	}
	a.log.Warn("agent is paused", keyWhy, why, keyMessage, m.ID)
	a.note(a.holds.change(a.name, func(s *standing) {
		s.Paused = &pause{By: dropbox.Swarm, Why: why, Since: now, Turns: true}
	}))
	a.tellLead("turns:"+a.name+":"+now.Format(time.RFC3339Nano), a.name+" is paused: too many turns", fmt.Sprintf(
		"%s is paused: %s.\n\nIts mail waits. Next would have been %s from %s: %s\n\nWhat it did: claude-swarm history %s\nTo let it go on: claude-swarm resume %s\n",
		a.name, why, m.ID, m.From, describe(m), a.name, a.name))
	return true
}

// A PersonError says that only a person may let an agent go on.
type PersonError struct{ Name string }

func (e *PersonError) Error() string {
	return "an agent cannot let " + e.Name + " go on: a person holds it, or it began too many turns without one"
}

// forPerson tells whether only a person may end what holds an agent: a person ordered
// it, or the bound on turns did.
func (s *Swarm) forPerson(st standing) bool {
	ordered := func(by string) bool { return by != dropbox.Swarm && s.fromPerson(by) }
	return st.Paused != nil && (st.Paused.Turns || ordered(st.Paused.By)) || st.Stopped != nil && ordered(st.Stopped.By)
}

// fromPerson tells whether an order comes from a person. Those of agents have their
// names: whoever passes orders on finds out who calls.
func (s *Swarm) fromPerson(by string) bool {
	_, err := s.member(by)
	return err != nil
}

// word begins the count of an agent's turns again after an order of a person, also for
// the next daemon.
func (s *Swarm) word(agent, by string, st *standing) {
	if !s.fromPerson(by) {
		return
	}
	if s.counts.word(agent) || st.Paused != nil && st.Paused.Turns {
		st.Word = time.Now().UTC()
	}
}
