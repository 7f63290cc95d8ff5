package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// longestBeat is the maximum wait between two heartbeats, unless the first wait is
// longer.
const longestBeat = time.Hour

// beats counts the heartbeats of one agent. The count is not saved, so after a restart
// the agent begins with the first wait. Only the agent's goroutine uses it.
type beats struct {
	idle time.Time // when the agent became idle, by the monotonic clock; zero if it is not idle
	n    int       // heartbeats since the last mail
}

// came records that mail arrived, which resets the wait to the first one.
func (b *beats) came() { *b = beats{} }

// worked restarts the idle timer after a turn, or while the agent is held.
func (b *beats) worked() { b.idle = time.Time{} }

// due returns how much longer the agent must be idle before its next heartbeat. A result of
// 0 or less means that the heartbeat is due now.
func (b *beats) due(h Heartbeat, now time.Time) time.Duration {
	if b.idle.IsZero() {
		b.idle = now
	}
	return journal.Backoff(h.After, b.n, max(h.After, longestBeat)) - now.Sub(b.idle)
}

// heartbeat sends an idle agent its heartbeat, if one is due, and returns how long to wait.
// A result of 0 means that the heartbeat was sent. The function skips a heartbeat whose
// turn could not begin now, because all slots are taken, the agent has begun too many
// turns, or a budget is spent. As a result, no heartbeat waits in the mailbox, and no
// heartbeat makes the daemon ask a person to raise a budget.
func (a *agent) heartbeat(now time.Time) time.Duration {
	h := a.control.heartbeat()
	if h.After == 0 {
		return forever
	}
	if wait := a.beats.due(h, now); wait > 0 {
		return wait
	}
	a.beats.n++
	a.beats.idle = now
	_, held := a.heldMessage(&dropbox.Message{From: dropbox.Swarm}, now)
	if !a.slots.full() && !held {
		if err := a.inbox.SendHeartbeat(a.name, h.Text, now); err == nil {
			a.inbox.Queue.Changed("")
			return 0
		} else {
			a.log.Warn("heartbeat could not be sent", keyErr, err)
		}
	}
	return a.beats.due(h, now)
}

// noteMail resets the wait to the first one unless the message is a heartbeat.
func (a *agent) noteMail(m *dropbox.Message) {
	if !mail.IsHeartbeat(m) {
		a.beats.came()
	}
}
