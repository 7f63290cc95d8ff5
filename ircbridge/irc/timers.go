package irc

import (
	"fmt"
	"time"
)

// motdPatience is how long after 001 the client waits for the end of the MOTD.
const motdPatience = 5 * time.Second

const maxNickWait = 10 * time.Minute

// runTimers performs the actions that are due, and returns the time until the next one is
// due. An error ends the connection.
func (p *protocol) runTimers(now time.Time) (time.Duration, error) {
	t := &p.timers
	next := time.Hour
	// due reports whether a time has been reached. If not, due makes sure that the writer
	// wakes by then.
	due := func(at time.Time) bool {
		if d := at.Sub(now); d > 0 {
			next = min(next, d)
			return false
		}
		return true
	}
	if p.st.phase == Registering && !p.st.since.IsZero() && due(p.st.since.Add(motdPatience)) {
		p.becomeReady()
	}
	if p.st.phase != Registered {
		return next, nil
	}
	if !t.blocked {
		switch {
		case t.pinged.IsZero():
			if due(t.heard.Add(p.cfg.PingAfter)) {
				t.pinged, t.asked = now, now
				p.urgent(Msg("PING", alive))
				next = min(next, p.cfg.PingTimeout)
			}
		case due(t.pinged.Add(p.cfg.PingTimeout)):
			return 0, fmt.Errorf("%w: no line for %v, no PONG for %v", ErrTimeout, now.Sub(t.heard).Round(time.Millisecond), p.cfg.PingTimeout)
		}
		if oldest := p.out.oldest(); !oldest.IsZero() && due(oldest.Add(p.cfg.ProofTimeout)) {
			return 0, fmt.Errorf("%w: no answer for %v to what was sent", ErrTimeout, p.cfg.ProofTimeout)
		}
	}
	if !p.st.me(p.st.wanted) && due(t.nickAt) {
		p.bare(Msg("NICK", p.st.wanted))
		t.nickWait = min(2*t.nickWait, maxNickWait)
		t.nickAt = now.Add(t.nickWait)
		due(t.nickAt)
	}
	return next, nil
}
