package journal

import (
	"strings"
	"testing"
	"time"
)

// The limit does not stop well-behaved swarms that run for hours: a lead agent whose ten
// workers report, a person's script, cron jobs, and a person who works with an agent.
func TestHonestTurnsAreNotHeld(t *testing.T) {
	for name, c := range map[string]struct {
		every  time.Duration // between two turns
		hours  int
		person func(n int) bool // whether a word from a person starts the n-th turn
	}{
		"ten workers report every six minutes":     {6 * time.Minute / 10, 5, func(int) bool { return false }},
		"200 messages of the lead's script":        {time.Hour / 200, 3, func(int) bool { return true }},
		"busy workers, and a person now and then":  {time.Hour / 300, 4, func(n int) bool { return n%100 == 0 }},
		"a job that sends every minute by cron":    {time.Minute, 24, func(int) bool { return true }},
		"a job that drops a file every minute":     {time.Minute, 24, func(int) bool { return false }},
		"a script that sends 1,000 within an hour": {time.Hour / 1000, 3, func(int) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			var counts TurnCounts
			now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
			end := now.Add(time.Duration(c.hours) * time.Hour)
			for n := 0; now.Before(end); n++ {
				if why := counts.Over("lead", 120, c.person(n), now); why != "" {
					t.Fatalf("turn %d is held: %s", n, why)
				}
				counts.Count("lead", now, c.person(n))
				now = now.Add(c.every)
			}
			if kept := len(counts.by["lead"]); kept > 1201 {
				t.Errorf("%d turns are remembered", kept)
			}
		})
	}
}

// The second limit also applies to messages that were verified to be from the lead,
// because an agent can read the lead's secret.
func TestTheSecondBoundHoldsForAll(t *testing.T) {
	var counts TurnCounts
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	for range 1200 {
		if why := counts.Over("a", 120, true, now); why != "" {
			t.Fatal(why)
		}
		counts.Count("a", now, true)
		now = now.Add(time.Second)
	}
	const want = "1200 turns within an hour, ten times policy.turns_per_hour; it can continue after "
	if why := counts.Over("a", 120, true, now); !strings.HasPrefix(why, want) {
		t.Errorf("over = %q, want %q…", why, want)
	}
	// An order does not reset the second count either, because a program could give an
	// order every minute.
	if !counts.Word("a") || !strings.HasPrefix(counts.Over("a", 120, true, now), want) {
		t.Error("an order lifts the second bound")
	}
	if why := counts.Over("a", 0, true, now); why != "" {
		t.Errorf("switched off: %q", why)
	}
	if why := counts.Over("b", 120, false, now); why != "" {
		t.Errorf("another agent: %q", why)
	}
	if why := counts.Over("a", 120, true, now.Add(time.Hour)); why != "" {
		t.Errorf("an hour later: %q", why)
	}
}

// When the clock is set back, no turn is forgotten, and no turn counts for longer than
// before.
func TestACountOfTurnsWhenTheClockIsSetBack(t *testing.T) {
	var counts TurnCounts
	now := time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	for range 3 {
		counts.Count("a", now, false)
	}
	back := now.Add(-48 * time.Hour)
	if why := counts.Over("a", 3, false, back); why == "" {
		t.Error("the count is empty")
	}
	if why := counts.Over("a", 3, false, back.Add(time.Hour)); why != "" {
		t.Errorf("an hour later: %s", why)
	}
}
