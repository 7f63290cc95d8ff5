package irc

import (
	"fmt"
	"time"
)

// How long after 001 the end of the MOTD may be missing.
const motdPatience = 5 * time.Second

const maxNickWait = 10 * time.Minute

// timers are what a connection does by the clock. The writer runs them.
type timers struct {
	heard    time.Time // the last line, or the end of waiting for our consumer
	pinged   time.Time // our own PING since then; zero for none
	asked    time.Time // when that PING was written; for the lag
	blocked  bool      // the reader waits for our consumer: silence proves nothing
	nickAt   time.Time // when to ask for the wanted nick
	nickWait time.Duration
}

// run does what is due and says how long until the next. The error ends the
// connection.
func (t *timers) run(c *Conn, now time.Time) (time.Duration, error) {
	next := time.Hour
	// due says whether at is here, and wakes the writer then if it is not.
	due := func(at time.Time) bool {
		if d := at.Sub(now); d > 0 {
			next = min(next, d)
			return false
		}
		return true
	}
	if c.st.phase == Registering && !c.st.since.IsZero() && due(c.st.since.Add(motdPatience)) {
		c.becomeReady()
	}
	if c.st.phase != Registered {
		return next, nil
	}
	if !t.blocked {
		switch {
		case t.pinged.IsZero():
			if due(t.heard.Add(c.cfg.PingAfter)) {
				t.pinged, t.asked = now, now
				c.urgent(Msg("PING", alive))
				next = min(next, c.cfg.PingTimeout)
			}
		case due(t.pinged.Add(c.cfg.PingTimeout)):
			return 0, fmt.Errorf("%w: no line for %v, no PONG for %v", ErrTimeout, now.Sub(t.heard).Round(time.Millisecond), c.cfg.PingTimeout)
		}
		if oldest := c.out.oldest(); !oldest.IsZero() && due(oldest.Add(c.cfg.ProofTimeout)) {
			return 0, fmt.Errorf("%w: what was sent is not answered for %v", ErrTimeout, c.cfg.ProofTimeout)
		}
	}
	if !c.st.me(c.st.wanted) && due(t.nickAt) {
		c.bare(Msg("NICK", c.st.wanted))
		t.nickWait = min(2*t.nickWait, maxNickWait)
		t.nickAt = now.Add(t.nickWait)
		due(t.nickAt)
	}
	return next, nil
}

// alive is the token of the PING that asks whether the server is there.
const alive = "alive"

// hear notes a line.
func (t *timers) hear(now time.Time) { t.heard, t.pinged = now, time.Time{} }

// nickFree asks for the wanted nick at the next turn of the writer.
func (t *timers) nickFree(c *Conn) {
	t.nickAt = time.Time{}
	c.ring()
}
