package journal

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// The number of turns per hour is the last limit on loops. Every other rule checks a
// message's envelope or its proven sender. This rule counts turns, regardless of the
// content of the messages. If an agent starts too many turns within an hour without a
// message from a person, it is paused, and a person has to resume it.
//
// A word from a person is a message that was verified to be from the lead, or an order
// from outside any turn to resume or start the agent. A file dropped by hand does not
// count, because there is no proof of who wrote it.
//
// A program run by the same user can read the lead's secret, and a process that outlived
// its daemon looks like a person. So there is a second limit, ten times as high, which a
// word from a person does not lift.

// absolutely is the ratio of the second limit, which applies to all turns, to
// turns_per_hour.
const absolutely = 10

// TurnCounts counts the turns that each agent has started. It is safe for concurrent use.
type TurnCounts struct {
	mu sync.Mutex
	by map[string][]turnBegun // by agent, oldest first; lately removes turns older than an hour
}

// A turnBegun is a turn that an agent started, or a message that was delivered to a
// running turn.
type turnBegun struct {
	at     time.Time
	person bool // started by a message or an order from a person
}

// Count counts a turn that an agent starts.
func (c *TurnCounts) Count(agent string, at time.Time, person bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string][]turnBegun{}
	}
	c.by[agent] = append(c.lately(agent, at), turnBegun{at, person})
}

// Word resets the count of turns since the last word from a person. It does not reset the
// count of all turns, because otherwise a program could resume the agent every minute
// without a limit. Word reports whether any turns were counted.
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

// Over returns the reason why the agent may not start another turn, or "" if it may.
// person says whether a message from a person starts the turn. perHour is
// policy.turns_per_hour; 0 means no limit.
func (c *TurnCounts) Over(agent string, perHour int, person bool, now time.Time) string {
	if perHour <= 0 {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.lately(agent, now)
	if len(all) >= absolutely*perHour {
		return fmt.Sprintf("%d turns within an hour, ten times policy.turns_per_hour; it can continue after %s, or with a higher limit", len(all), screen.Ahead(all[0].at.Add(countedFor), time.Now()))
	}
	alone := len(all)
	for i, t := range slices.Backward(all) {
		if t.person {
			alone = len(all) - i - 1
			break
		}
	}
	if alone >= perHour && !person {
		return fmt.Sprintf("%d turns within an hour without a message from a person (policy.turns_per_hour)", alone)
	}
	return ""
}

// lately returns the turns that the agent started within the last hour. If the clock was
// set back, turns in the future count as started now. The caller must hold the mutex.
func (c *TurnCounts) lately(agent string, now time.Time) []turnBegun {
	all := c.by[agent]
	old := 0
	for i, t := range all {
		all[i].at = notAfter(t.at, now)
		if now.Sub(all[i].at) >= countedFor {
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

// Recall counts a ledger line if it is from the last hour, so that a restart does not
// reset the count. since is the time of the last order from a person.
func (c *TurnCounts) Recall(line LedgerLine, since time.Time) {
	if line.Outcome == OutcomeUnbooked {
		return
	}
	if time.Since(line.At) >= countedFor {
		return
	}
	begun := line.At.Add(-time.Duration(line.Seconds * float64(time.Second)))
	c.Count(line.Agent, begun, line.ByLead || !begun.After(since))
}
