package bridge

import (
	"context"
	"fmt"
	"time"
)

// A holdup records the last reason that a person was given for why an agent has not
// started work on their message.
type holdup struct {
	told  string    // "" means that nothing is holding the agent up
	asked time.Time // when the daemon was last asked about the agent
	asks  bool      // a question to the daemon is in progress
}

// heldLook is the minimum time between two questions to the daemon about the same agent
// on behalf of the same person.
const heldLook = 3 * time.Second

// tellHeld tells a person why an agent has not started work on their message, for example
// because the agent is paused. Otherwise the person would not know why there is no
// answer. tellHeld tells the person again only when the reason has changed.
func (r *notices) tellHeld(t Text, agent string) {
	key := agent + " " + r.link.Fold(t.Nick)
	now := time.Now()
	h := r.holdups[key]
	if r.swarm == nil || h.asks || now.Sub(h.asked) < heldLook {
		return
	}
	if r.holdups == nil || len(r.holdups) >= 256 {
		r.holdups = map[string]holdup{}
	}
	r.holdups[key] = holdup{told: h.told, asked: now, asks: true}
	r.loop.do(func() func() {
		ctx, cancel := context.WithTimeout(r.loop.ctx, commandPatience)
		defer cancel()
		why, err := r.swarm.Held(ctx, agent)
		return func() {
			if err != nil {
				r.rec.log.Debug("the reason why an agent is not working is unknown", "agent", agent, keyErr, err)
				why = h.told // so the person is not told the same reason again
			}
			r.holdups[key] = holdup{told: why, asked: now}
			if why != "" && why != h.told {
				r.rep.tell(t, typed(why, r.link.Self()))
			}
		}
	})
}

// tellTaken tells a person that the agent has received their task, and how many messages
// it will handle first.
func (r *notices) tellTaken(t Text, agent, id string) {
	r.acks.begin(id)
	r.loop.do(func() func() {
		n, err := r.mail.before(agent, id)
		return func() {
			line := agent + " has it"
			switch {
			case err != nil:
				r.rec.log.Debug("the number of messages before a task is unknown", keyMessage, id, keyErr, err)
			case n > maxAhead:
				line += fmt.Sprintf(", more than %d before it", maxAhead)
			case n > 0:
				line += fmt.Sprintf(", %d before it", n)
			}
			r.rep.tellThen(t, line+".", func() { r.acks.end(id) })
		}
	})
}
