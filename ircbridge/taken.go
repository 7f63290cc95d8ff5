package ircbridge

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// maxAhead is how many messages that wait before a task are looked at.
const maxAhead = 100

// tellTaken tells whoever gave a task that the agent has it, and how much it works off
// before that.
func (r *run) tellTaken(t irc.Text, agent, id string) {
	r.do(func() func() {
		n, err := r.before(agent, id)
		return func() {
			line := agent + " has it"
			switch {
			case err != nil:
				r.Log.Debug("what waits before a task is not known", keyMessage, id, keyErr, err)
			case n > maxAhead:
				line += fmt.Sprintf(", more than %d before it", maxAhead)
			case n > 0:
				line += fmt.Sprintf(", %d before it", n)
			}
			r.tell(t, line+".")
		}
	})
}

// before counts what an agent works off before a message: what it works on, and what waits
// in front and begins a turn.
func (r *run) before(agent, id string) (n int, err error) {
	box, err := r.Store.Mailbox(agent)
	if err != nil {
		return 0, err
	}
	waiting, err := box.Peek()
	if err != nil {
		return 0, err
	}
	claimed, err := box.Claimed()
	if err != nil {
		return 0, err
	}
	for _, e := range claimed {
		if e.ID == id {
			return 0, nil // it has begun with it
		}
		n++
	}
	now := time.Now()
	for _, e := range waiting {
		if e.ID == id || n > maxAhead {
			break
		}
		if m, err := box.Read(e); err == nil && m.Type.Wakes() && !m.Expired(now) {
			n++
		}
	}
	return n, nil
}
