package journal

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Limit parks all agents of one account: its usage limit is reached, or the account or
// the service has another problem. No agent or message caused it, so no failure counts, and
// the limit ends without a person:
//
//	closed: the client said until when      Until is that time
//	open:   nobody knows until when         Until is the next try; the waits double
//	over:   a good turn, or a person's word  nobody is parked; kept for what the lead
//	        was told, since an outage that flickers is one outage
type Limit struct {
	Since time.Time `json:"since,omitzero"`  // when an agent first met it
	Until time.Time `json:"until"`           // time of the next try, without the spread
	Open  bool      `json:"open,omitempty"`  // the client did not say until when it holds
	Tries int       `json:"tries,omitempty"` // parkings in a row, of an open limit
	Over  bool      `json:"over,omitempty"`
	Why   string    `json:"why"`
	Hint  string    `json:"hint,omitempty"` // the next step for a person
	Agent string    `json:"agent,omitempty"`
	Told  bool      `json:"told,omitempty"`    // the lead knows
	Hints []string  `json:"told_of,omitempty"` // the hints that the lead got in this outage
	Back  bool      `json:"back,omitempty"`    // the lead was told about the end, too

	began time.Time     // since when its turn had got no answer from the API
	first time.Duration // the wait after the first parking, of an open limit
}

const (
	// FirstWait and LongestWait bound the pauses between two tries if the client did not
	// say until when a limit holds. The pauses double.
	FirstWait   = 30 * time.Second
	LongestWait = 10 * time.Minute
	// sameOutage is how long after a try the next one may fail and still belong to
	// the same outage.
	sameOutage = time.Hour
	// longestLimit bounds the time until a reset that a client names. The longest limits of
	// subscriptions last a week.
	longestLimit = 8 * 24 * time.Hour
)

// spread is how much later than the reset an agent resumes work. It differs between agents,
// so that they do not all ask at once, and is the same after a restart.
func (l Limit) spread(agent string) time.Duration {
	span := l.Until.Sub(l.Since)
	if l.Open {
		span = Backoff(FirstWait, l.Tries-1, LongestWait)
	}
	most := min(max(span/10, 2*time.Second), time.Minute)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", agent, l.Until.UnixNano())
	return time.Second + time.Duration(h.Sum64()%uint64(most))
}

// LimitFrom returns the limit for a turn that ended as Limited. Its times are wall clock
// times, since the machine may sleep in between.
func LimitFrom(agent string, out runner.Outcome, atLeast time.Duration, now time.Time) Limit {
	now = now.UTC().Round(0)
	l := Limit{Since: now, Why: cmp.Or(out.Reason, "the usage limit is reached"), Hint: out.Hint, Agent: agent, began: now}
	if out.ContextTokens == 0 && out.Began.Before(now) && !out.Began.IsZero() {
		l.began = out.Began.UTC().Round(0)
	}
	switch longest := now.Add(longestLimit); {
	case out.ResetAt.IsZero():
		l.Open, l.first = true, FirstWait
	case !out.ResetAt.After(now):
		// The end has already passed, for example because two clocks differ. The tries must
		// not follow each other without a pause.
		l.Open, l.first = true, min(atLeast, LongestWait)
	case out.ResetAt.After(longest):
		l.Until = longest
	default:
		l.Until = out.ResetAt.UTC().Round(0)
		if first := now.Add(atLeast); l.Until.Before(first) {
			l.Until = first
		}
	}
	return l
}

// sameLimit is the largest difference between the times that two agents name for one limit.
const sameLimit = 10 * time.Minute

// Park notes that an account is at its limit, and returns the limit in force from now on:
// an account that is already parked keeps its limit, until the later of the two times; a
// limit that ends much later is a different one. If a turn meets an open limit again, the
// limit continues with a longer wait.
func (s *Holds) Park(account string, l Limit, now time.Time) (Limit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.file.Limits[account]
	switch longer := l.Until.Sub(old.Until); {
	case !known:
	case !old.Over && old.Until.After(now): // it holds
		switch {
		case l.Open:
			return old, nil
		case old.Open:
		case longer <= 0:
			return old, nil
		case longer < sameLimit:
			old.Until = l.Until
			l = old
		}
	case l.Open && old.Open && l.began.Sub(old.Until) < sameOutage:
		l.Hints = old.Hints
		l.Told = slices.Contains(old.Hints, l.Hint)
		l.Back = l.Told && old.Back
		if !old.Over {
			l.Since, l.Tries = old.Since, old.Tries
		}
	case !l.Open && !old.Open && longer.Abs() < sameLimit:
		l.Told, l.Back = old.Told, old.Back
	}
	if l.Open {
		l.Tries++
		l.Until = now.UTC().Round(0).Add(Backoff(l.first, l.Tries-1, LongestWait))
	}
	s.file.Limits[account] = l
	return l, s.write()
}

// LimitOf returns the limit that still parks an agent of an account, and until
// when.
func (s *Holds) LimitOf(account, agent string, now time.Time) (Limit, time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.file.Limits[account]
	if !ok || l.Over {
		return l, time.Time{}, false
	}
	if ahead := l.Since.Sub(now); ahead > ClockStep {
		// The clock was set back. How long the account has been parked is not known; it
		// stays parked for at most the whole time again.
		l.Since, l.Until = l.Since.Add(-ahead), l.Until.Add(-ahead)
		s.file.Limits[account] = l
		_ = s.write() // CatchUp tries again
	}
	until := l.Until.Add(l.spread(agent))
	return l, until, until.After(now)
}

// ClockStep is how much a clock may be set back by its daily corrections.
const ClockStep = time.Minute

// LimitTold notes that the lead was told about a limit.
func (s *Holds) LimitTold(account string, since time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.file.Limits[account]
	if !ok || !l.Since.Equal(since) || l.Told {
		return nil
	}
	l.Told = true
	if l.Open && !slices.Contains(l.Hints, l.Hint) {
		l.Hints = append(slices.Clone(l.Hints), l.Hint)
	}
	s.file.Limits[account] = l
	return s.write()
}

// LiftLimit lets the agents of an account continue before its limit ends.
func (s *Holds) LiftLimit(account string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.file.Limits[account]
	if !ok || l.Over {
		return nil
	}
	l.Over = true
	if l.Open {
		l.Until = now.UTC().Round(0) // a later outage is compared with this time
	}
	s.file.Limits[account] = l
	return s.write()
}

// EndToTell returns the limit of an account that has ended, because a turn ended well, if
// people were told about the limit but not about its end.
func (s *Holds) EndToTell(account string) (Limit, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.file.Limits[account]
	return l, l.Told && !l.Back
}

// EndTold notes that people were told about the end of a limit.
func (s *Holds) EndTold(account string, since time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.file.Limits[account]
	if !ok || !l.Since.Equal(since) || l.Back {
		return nil
	}
	l.Back = true
	s.file.Limits[account] = l
	return s.write()
}

// HasOpenLimit reports whether an account has a limit without a known end.
func (s *Holds) HasOpenLimit(account string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.file.Limits[account]
	return l.Open && !l.Over
}

// Backoff returns the wait d, doubled as many times as times says, at most limit.
func Backoff(d time.Duration, times int, limit time.Duration) time.Duration {
	for range times {
		if d >= limit/2 {
			return limit
		}
		d *= 2
	}
	return min(d, limit)
}
