package ircbridge

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A holdup is what a person knows of why an agent does not take up what they said to it.
type holdup struct {
	told  string    // "" is nothing: the agent works
	asked time.Time // when the daemon was asked about it
	asks  bool      // it is being asked
}

// heldLook is how often the daemon is asked about an agent for one person.
const heldLook = 3 * time.Second

// tellHeld tells a person why an agent does not take up what they said to it, such as that
// it is paused: else they would wait for an answer. Each reason is told once, until it is
// gone.
func (r *run) tellHeld(t irc.Text, agent string) {
	key := agent + " " + r.fold().Fold(t.Nick)
	now := time.Now()
	h := r.holdups[key]
	if r.Swarm == nil || h.asks || now.Sub(h.asked) < heldLook {
		return
	}
	if r.holdups == nil || len(r.holdups) >= 256 {
		r.holdups = map[string]holdup{}
	}
	r.holdups[key] = holdup{told: h.told, asked: now, asks: true}
	r.do(func() func() {
		ctx, cancel := context.WithTimeout(r.ctx, commandPatience)
		defer cancel()
		why, err := r.Swarm.Held(ctx, agent)
		return func() {
			r.holdups[key] = holdup{told: why, asked: now}
			if err != nil {
				r.Log.Debug("what holds up an agent is not known", "agent", agent, keyErr, err)
			} else if why != "" && why != h.told {
				r.tell(t, r.typed(why))
			}
		}
	})
}
