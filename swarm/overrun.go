package swarm

import (
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// An agent that is stuck begins no more turns, but the turn in which it was found stuck
// continues. The daemon interrupts that turn when it has taken Supervision.InterruptAfter
// more steps, or after longestOverrun, whichever is earlier:
//
//	escalation ──┬── the turn ends by itself
//	             ├── a person decides: resume, abort or pause
//	             └── steps or time are over ── interrupt: the message waits, the session and the question stay

// longestOverrun is how long a turn may continue after the agent was found stuck. A single
// step can take longer than this, and an agent that waits for something takes no steps.
const longestOverrun = 2 * time.Minute

// overran interrupts the turn of a stuck agent that has taken too many steps since the
// escalation.
func (es *escalations) overran(o supervisor.Overrun) { es.endOverrun(o.Agent, o.ID, o.Turn) }

// overrunLater interrupts the turn in which an agent was found stuck after longestOverrun,
// if the turn is still running then and the configuration allows it.
func (es *escalations) overrunLater(m *member, e supervisor.Escalation) {
	if es.plan().supervision().InterruptAfter > 0 {
		m.control.later(messageOf(e.Turn), longestOverrun, func() { es.endOverrun(e.Agent, e.ID, e.Turn) })
	}
}

// endOverrun interrupts the turn, unless a person has decided since the escalation.
func (es *escalations) endOverrun(agent, escalation, turn string) {
	m, err := es.member(agent)
	if err != nil || !es.holds.Of(agent).IsStuck(escalation) {
		return
	}
	if m.control.overran(messageOf(turn)) {
		m.log.Warn("the turn of a stuck agent is interrupted", keyTurn, turn)
	}
}

// later calls f after d, unless the running turn has ended by then. It does nothing if no
// turn with this message is running, or if a call is already planned.
func (c *control) later(message string, d time.Duration, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil && c.message == message && c.overrun == nil {
		c.overrun = time.AfterFunc(d, f)
	}
}

// overran ends the running turn because its agent is stuck. It reports false if no turn with
// this message is running.
func (c *control) overran(message string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end == nil || c.message != message {
		return false
	}
	c.end(errStuck) // has no effect if an order is already ending the turn
	return true
}

// endCause returns why the turn was ended, given the cause with which its context was
// cancelled. An order that came after the interrupt of a stuck turn takes precedence: a
// person who aborts the turn must not get its message back.
func (c *control) endCause(cause error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(cause, errStuck) && c.order != nil {
		return c.order
	}
	return cause
}

// overrunBound says in the status what happens to the running turn of a stuck agent.
func overrunBound(steps int) string {
	if steps == 0 {
		return "; is paused when this turn has ended"
	}
	return fmt.Sprintf("; this turn is interrupted after %s or %s", screen.Count(steps, "step"), screen.Span(longestOverrun))
}

// afterStuck says in a question what happens to the turn of a stuck agent.
func afterStuck(agent string, steps int) string {
	running := "A running turn continues to its end."
	if steps > 0 {
		running = fmt.Sprintf("Its turn is interrupted after %s, or after %s; the session stays, and the message waits.", screen.Count(steps, "more step"), screen.Span(longestOverrun))
	}
	return fmt.Sprintf("%s begins no more turns, and its mail waits. %s", agent, running)
}
