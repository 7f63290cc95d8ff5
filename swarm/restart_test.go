package swarm_test

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func TestRestartDecisions(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(secondsAgo int) time.Time { return now.Add(-time.Duration(secondsAgo) * time.Second) }
	failed := func(message string, ago int) journal.Failure { return journal.Failure{At: at(ago), Message: message} }
	givenUp := func(message string, ago int) journal.Failure {
		return journal.Failure{At: at(ago), Message: message, GivenUp: true}
	}
	notBegun := func(message string, ago int) journal.Failure {
		return journal.Failure{At: at(ago), Message: message, NotBegun: true}
	}
	const first = 30 * time.Second
	for name, c := range map[string]struct {
		failures []journal.Failure
		open     bool
		after    time.Duration
	}{
		"none":                              {nil, false, 0},
		"first failure":                     {[]journal.Failure{failed("a", 0)}, false, first},
		"second failure doubles":            {[]journal.Failure{failed("a", 60), failed("a", 0)}, false, 2 * first},
		"third gives the message up":        {[]journal.Failure{failed("a", 120), failed("a", 60), givenUp("a", 0)}, false, first},
		"next message fails after that":     {[]journal.Failure{failed("a", 120), failed("a", 60), givenUp("a", 30), failed("b", 0)}, true, 0},
		"two messages are not three":        {[]journal.Failure{failed("a", 60), failed("b", 0)}, false, 2 * first},
		"three different messages":          {[]journal.Failure{failed("a", 90), failed("b", 60), failed("c", 0)}, true, 0},
		"doubling has an end":               {[]journal.Failure{failed("a", 9), failed("a", 8), failed("a", 7), failed("a", 6), failed("a", 5), failed("a", 4), failed("a", 0)}, false, 10 * time.Minute},
		"client died at once":               {[]journal.Failure{notBegun("a", 0)}, false, 5 * time.Second},
		"twice":                             {[]journal.Failure{notBegun("a", 10), notBegun("a", 0)}, false, 5 * time.Second},
		"three times in 300 s":              {[]journal.Failure{notBegun("a", 299), notBegun("b", 10), notBegun("a", 0)}, true, 0},
		"three times, the first 300 s ago":  {[]journal.Failure{notBegun("a", 300), notBegun("a", 10), notBegun("a", 0)}, false, 5 * time.Second},
		"clock set back does not hide them": {[]journal.Failure{notBegun("a", -200), notBegun("a", -100), notBegun("a", 0)}, true, 0},
		"clock set back an hour between":    {[]journal.Failure{notBegun("a", -3599), notBegun("a", -3598), notBegun("a", 0)}, true, 0},
		"clock put right by a year":         {[]journal.Failure{notBegun("a", -365*24*3600), notBegun("a", -1), notBegun("a", 0)}, true, 0},
		"unborn ones count no message":      {[]journal.Failure{notBegun("a", 20), notBegun("b", 10), failed("c", 0)}, false, first},
	} {
		t.Run(name, func(t *testing.T) {
			got := swarm.RestartPolicy{}.Decide(c.failures, first, now)
			if got.Open != c.open || got.After != c.after {
				t.Errorf("Decide = open %v after %v (%s), want open %v after %v", got.Open, got.After, got.Reason, c.open, c.after)
			}
			if got.Reason == "" {
				t.Error("a decision without a reason")
			}
		})
	}
}

// Every wait has a maximum, which is the only protection against an overlong wait after
// the clock is set back.
func TestNoWaitIsLongerThanTheLongest(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for name, last := range map[string]journal.Failure{"failed": {At: now, Message: "a"}, "given up": {At: now, Message: "a", GivenUp: true}} {
		if d := (swarm.RestartPolicy{}).Decide([]journal.Failure{last}, time.Hour, now); d.After != 10*time.Minute {
			t.Errorf("%s: after %v, want 10m", name, d.After)
		}
	}
}
