package journal

import (
	"fmt"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// meet parks an account, as happens when an outage at the time now interrupts a turn that
// started at the time began. It reports whether the lead is told about the limit, and
// records that the lead was told.
func (s *Holds) meet(t *testing.T, why, hint string, began, now time.Time) (l Limit, told bool) {
	t.Helper()
	out := runner.Outcome{End: runner.Limited, Reason: why, Hint: hint, Began: began}
	l, err := s.Park("account", LimitFrom("coder", out, time.Second, now), now)
	if err != nil {
		t.Fatal(err)
	}
	told = !l.Told
	if err := s.LimitTold("account", l.Since); err != nil {
		t.Fatal(err)
	}
	return l, told
}

func newHome(t *testing.T) Home {
	t.Helper()
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	return home
}

func opened(t *testing.T, home Home) *Holds {
	t.Helper()
	again, err := OpenHolds(home)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// An API that fails for three hours is one outage, even across restarts of the daemon.
// The lead gets one alert, the outage keeps its start time, and the waits grow.
func TestOneOutage(t *testing.T) {
	home := newHome(t)
	s := opened(t, home)
	began := time.Date(2026, 11, 22, 22, 30, 0, 0, time.UTC) // the outage lasts past midnight
	var waits []time.Duration
	tells := 0
	for now := began; now.Before(began.Add(3 * time.Hour)); {
		why := []string{"API Error: 529 Overloaded", "API Error: Connection refused"}[len(waits)%2]
		l, told := s.meet(t, why, "check the network", now.Add(-3*time.Second), now)
		if told {
			tells++
		}
		if !l.Since.Equal(began) || l.Why != why {
			t.Fatalf("parked for %q since %v, want %q since %v", l.Why, l.Since, why, began)
		}
		waits = append(waits, l.Until.Sub(now))
		if s = opened(t, home); len(waits) == 3 {
			// If another agent of the account meets the limit, that does not count as
			// another attempt.
			if l, _ := s.meet(t, "503", "check the network", now, now.Add(time.Second)); l.Why == "503" {
				t.Error("a second agent's failure was counted as another try")
			}
		}
		_, now, _ = s.LimitOf("account", "coder", now)
	}
	if want := "[30s 1m0s 2m0s 4m0s 8m0s 10m0s 10m0s]"; fmt.Sprint(waits[:7]) != want {
		t.Errorf("waits %v, want %s", waits, want)
	}
	if tells != 1 {
		t.Errorf("the lead was told %d times", tells)
	}
}

// After a good turn or an order from a person, the waits are short again. The lead gets
// another alert only if a new outage begins, or if the person has to take a different
// step.
func TestAnOutageThatFlickers(t *testing.T) {
	s := opened(t, newHome(t))
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	step := func(d time.Duration, why, hint string, wait time.Duration, told bool) {
		t.Helper()
		now = now.Add(d)
		l, got := s.meet(t, why, hint, now.Add(-time.Second), now)
		if got != told || l.Until.Sub(now) != wait {
			t.Errorf("%s: told %v, waits %v; want %v, %v", why, got, l.Until.Sub(now), told, wait)
		}
	}
	lift := func() {
		t.Helper()
		if err := s.LiftLimit("account", now); err != nil {
			t.Fatal(err)
		}
		if _, _, parked := s.LimitOf("account", "coder", now); parked || s.HasOpenLimit("account") {
			t.Error("still parked")
		}
	}
	step(0, "529", "wait", 30*time.Second, true)
	step(35*time.Second, "529", "wait", time.Minute, false)
	lift()
	step(10*time.Minute, "529", "wait", 30*time.Second, false)
	step(35*time.Second, "no credit", "pay", time.Minute, true)
	step(65*time.Second, "no credit", "pay", 2*time.Minute, false)
	lift()
	step(2*time.Hour, "529", "wait", 30*time.Second, true)
	step(5*time.Hour, "529", "wait", 30*time.Second, true) // the limit was not lifted, but no turn was attempted for a long time
}

// If a long turn began during an outage and the API never answered, its failure belongs
// to that outage. If the API answered during the turn, its failure belongs to a new
// outage.
func TestALongTurnInAnOutage(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for answered, want := range map[int]bool{0: false, 12_000: true} {
		s := opened(t, newHome(t))
		s.meet(t, "529", "wait", now, now)
		later := now.Add(2 * time.Hour)
		out := runner.Outcome{End: runner.Limited, Reason: "529", Hint: "wait", Began: now.Add(35 * time.Second)}
		out.ContextTokens = answered
		l, err := s.Park("account", LimitFrom("coder", out, time.Second, later), later)
		if err != nil {
			t.Fatal(err)
		}
		if l.Told == want {
			t.Errorf("with %d tokens of answers the lead was told: %v", answered, l.Told)
		}
	}
}
