package journal

import (
	"os"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Each record keeps an agent waiting. If the clock is set back, the agent waits for at most
// the whole time once more. A routine correction changes
// nothing, and a clock that is set forward ends the wait early.
func TestAClockThatIsSetLengthensNoWait(t *testing.T) {
	const (
		ten     = 10 * time.Minute
		longest = 2 * ten
	)
	begun := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	paused := func(until time.Time) func(*Holds) error {
		return func(s *Holds) error {
			return s.Change("coder", func(st *Hold) { st.Paused = &Pause{By: "lead", Since: begun, Until: until} })
		}
	}
	park := func(reset time.Time) func(*Holds) error {
		return func(s *Holds) error {
			l := LimitFrom("other", runner.Outcome{End: runner.Limited, ResetAt: reset}, time.Second, begun)
			_, err := s.Park("account", l, begun)
			return err
		}
	}
	of := func(end func(st Hold) (time.Time, bool)) func(s *Holds, now time.Time) time.Duration {
		return func(s *Holds, now time.Time) time.Duration {
			st, err := s.Now("coder", now, longest)
			if err != nil {
				t.Fatal(err)
			}
			until, held := end(st)
			if !held || !until.After(now) {
				return 0
			}
			return until.Sub(now)
		}
	}
	limited := func(s *Holds, now time.Time) time.Duration {
		l, _, parked := s.LimitOf("account", "coder", now)
		if !parked {
			return 0
		}
		return l.Until.Sub(now)
	}
	for name, c := range map[string]struct {
		write func(*Holds) error
		left  func(s *Holds, now time.Time) time.Duration // how much longer the agent waits
		wait  time.Duration                               // what it is at first
		back  time.Duration                               // what it is after the clock was set back by an hour
	}{
		"a pause": {paused(begun.Add(ten)), of(func(st Hold) (time.Time, bool) {
			if st.Paused == nil {
				return time.Time{}, false
			}
			return st.Paused.Until, true
		}), ten, ten},
		"overtime": {func(s *Holds) error {
			return s.Change("coder", func(st *Hold) { st.Overtime = &Overtime{By: "lead", Since: begun, Until: begun.Add(ten)} })
		}, func(s *Holds, now time.Time) time.Duration {
			if o := s.Of("coder").Overtime; o.Holds(now) {
				return o.Until.Sub(now)
			}
			return 0
		}, ten, 0},
		"a limit with a known end": {park(begun.Add(ten)), limited, ten, ten},
		"a limit with an open end": {park(time.Time{}), limited, FirstWait, FirstWait},
		"a wait after a failed turn": {func(s *Holds) error {
			return s.Change("coder", func(st *Hold) { st.Until, st.Why = begun.Add(ten), "failed" })
		}, of(func(st Hold) (time.Time, bool) { return st.Until, true }), ten, 0},
	} {
		for _, step := range []struct {
			name string
			by   time.Duration
			want time.Duration
		}{
			{"not set", 0, c.wait},
			{"later", time.Minute, max(0, c.wait-time.Minute)},
			{"set back by a routine correction", -30 * time.Second, c.wait + 30*time.Second},
			{"set back by an hour", -time.Hour, c.back},
			{"set forward by an hour", time.Hour, 0},
		} {
			home := newHome(t)
			s := opened(t, home)
			if err := c.write(s); err != nil {
				t.Fatal(err)
			}
			now := begun.Add(step.by)
			for _, when := range []string{"first", "again", "after a restart"} {
				if when == "after a restart" {
					s = opened(t, home)
				}
				if left := c.left(s, now); left != step.want {
					t.Errorf("%s, clock %s, asked %s: waits %v longer, want %v", name, step.name, when, left, step.want)
				}
			}
		}
	}
}

// A pause without an end keeps none when the clock is set back, and a change that could not
// be written is reported, and is in force until it can be.
func TestAPauseWithoutAnEndAfterTheClockWasSetBack(t *testing.T) {
	home := newHome(t)
	s := opened(t, home)
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	if err := s.Change("coder", func(st *Hold) { st.Paused = &Pause{By: "lead", Since: now.Add(time.Hour)} }); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(home.Dir()); err != nil {
		t.Fatal(err)
	}
	st, err := s.Now("coder", now, time.Hour)
	if err == nil {
		t.Error("no error, although the file could not be written")
	}
	if !st.Paused.Until.IsZero() || !st.Paused.Since.Equal(now) || !s.Of("coder").Paused.Since.Equal(now) {
		t.Errorf("paused since %v until %v", st.Paused.Since, st.Paused.Until)
	}
}

// Turns that were begun in the future count as begun now, so they count for an hour from now.
func TestTurnsBegunInTheFutureCountForAnHour(t *testing.T) {
	var counts TurnCounts
	begun := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for range 3 {
		counts.Count("coder", begun, false)
	}
	now := begun.Add(-5 * time.Hour)
	if counts.Over("coder", 3, false, now) == "" {
		t.Error("the turns do not count after the clock was set back")
	}
	if why := counts.Over("coder", 3, false, now.Add(time.Hour)); why != "" {
		t.Errorf("an hour later: %s", why)
	}
}
