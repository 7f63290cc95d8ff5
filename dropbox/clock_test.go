package dropbox_test

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A key is remembered for a week even if the clock is set forward or back during that
// week.
func TestAKeyIsKnownByAnotherClock(t *testing.T) {
	now := time.Now()
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	first := deliver(t, s, "coder", keyed("once"))
	for name, shift := range map[string]time.Duration{"back an hour": -time.Hour, "forward a day": 24 * time.Hour} {
		other := reopen(t, s.Dir(), dropbox.Options{Now: func() time.Time { return now.Add(shift) }})
		if d := deliver(t, other, "coder", keyed("once")); !d.Duplicate || d.ID != first.ID {
			t.Errorf("set %s: %+v, want a duplicate of %s", name, d, first.ID)
		}
	}
}
