package journal

import (
	"fmt"
	"slices"
	"sync"
	"time"

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

// absolutely is how many times turns_per_hour the bound for all turns is.
const absolutely = 10

// TurnCounts counts the turns that each agent begins. It is safe for several
// goroutines.
type TurnCounts struct {
	mu sync.Mutex
	by map[string][]turnBegun // oldest first, at most those of the last hour
}

// A turnBegun is a turn that an agent began, or a message that reached a running one.
type turnBegun struct {
	at     time.Time
	person bool // it was begun by a word of a person
}

// Count notes that an agent begins a turn.
func (c *TurnCounts) Count(agent string, at time.Time, person bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string][]turnBegun{}
	}
	c.by[agent] = append(c.lately(agent, at), turnBegun{at, person})
}

// Word begins the count of turns without a person again. That of all turns goes on:
// whoever could give such an order once a minute would else have no bound. It tells
// whether there was something to count.
func (c *TurnCounts) Word(agent string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.by[agent]
	if len(all) == 0 {
		return false
	}
	all[len(all)-1].person = true
	return true
}

// Over says why the next turn of an agent would be one too many; "" when it would not.
// person says that a word of a person begins it. perHour is policy.turns_per_hour; 0
// is any number.
func (c *TurnCounts) Over(agent string, perHour int, person bool, now time.Time) string {
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
func (c *TurnCounts) lately(agent string, now time.Time) []turnBegun {
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

// Recall takes up what a ledger tells of the last hour, so that a restart does not
// begin the count again. since is the last order of a person.
func (c *TurnCounts) Recall(line LedgerLine, since time.Time) {
	begun := line.At.Add(-time.Duration(line.Seconds * float64(time.Second)))
	c.Count(line.Agent, begun, line.ByLead || !begun.After(since))
}
