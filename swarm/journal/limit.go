package journal

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Limit parks all agents of one account because the account has reached its usage
// limit, or because the account or the service has another problem. No agent or message
// caused the problem, so the failures do not count, and the limit ends without action by
// a person. A limit is in one of three states:
//
//	closed: the client said when it ends, and Until is that time
//	open:   its end is not known; Until is the time of the next try, and the waits double
//	over:   a turn ended well, or a person ended the limit, so no agent is parked; it is
//	        kept because the lead is told only once about an outage with interruptions
type Limit struct {
	Since time.Time `json:"since,omitzero"`  // when an agent first met the limit
	Until time.Time `json:"until"`           // time of the next attempt, without the spread
	Open  bool      `json:"open,omitempty"`  // the client did not report when the limit ends
	Tries int       `json:"tries,omitempty"` // for an open limit: how many times in a row agents were parked
	Over  bool      `json:"over,omitempty"`
	Why   string    `json:"why"`
	Hint  string    `json:"hint,omitempty"` // the step that a person should take next
	Agent string    `json:"agent,omitempty"`
	Told  bool      `json:"told,omitempty"`    // the lead was told about the limit
	Hints []string  `json:"told_of,omitempty"` // the hints that the lead received in this outage
	Back  bool      `json:"back,omitempty"`    // the lead was also told about the end of the limit

	began time.Time     // the start of the turn that met the limit if the API did not answer in that turn, otherwise the time of the failure
	first time.Duration // for an open limit: the wait after the agents were first parked
}

const (
	// FirstWait is the wait before the first attempt if the client did not report when a
	// limit ends. Each further wait is twice as long, up to LongestWait.
	FirstWait   = 30 * time.Second
	LongestWait = 10 * time.Minute
	// sameOutage limits the gaps in an outage. A failed turn belongs to the same outage
	// if it began less than this time after the last attempt was due.
	sameOutage = time.Hour
	// longestLimit caps the time until a reset that a client reports. The longest
	// subscription limits last a week.
	longestLimit = 8 * 24 * time.Hour
)

// spread returns how long after the reset an agent resumes work. The time differs between
// agents, so that they do not all use the API at once. It stays the same after a restart
// of the daemon. After an open limit, the agent that met it last resumes after the others:
// if only that agent has a problem, the others must have a chance to show it.
func (l Limit) spread(agent string) time.Duration {
	span := l.Until.Sub(l.Since)
	if l.Open {
		span = Backoff(FirstWait, l.Tries-1, LongestWait)
	}
	most := min(max(span/10, 2*time.Second), time.Minute)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", agent, l.Until.UnixNano())
	wait := time.Second + time.Duration(h.Sum64()%uint64(most))
	if l.Open && agent == l.Agent {
		wait += most
	}
	return wait
}

// LimitFrom returns the limit for a turn that ended as Limited. Its times are wall clock
// times, because the machine may sleep before the limit ends.
func LimitFrom(agent string, out runner.Outcome, atLeast time.Duration, now time.Time) Limit {
	now = now.UTC().Round(0)
	l := Limit{Since: now, Why: cmp.Or(out.Reason, "the usage limit has been reached"), Hint: out.Hint, Agent: agent, began: BeganError(out, now)}
	switch longest := now.Add(longestLimit); {
	case out.ResetAt.IsZero():
		l.Open, l.first = true, FirstWait
	case !out.ResetAt.After(now):
		// The reset has already passed, for example because two clocks differ. Even then
		// there must be a wait between two attempts.
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

// sameLimit is the maximum difference between the end times that two agents report for
// the same limit.
const sameLimit = 10 * time.Minute

// Park records that an account has reached a limit, and returns the limit that is now in
// effect. An account that is already parked keeps its old limit, which then ends at the
// later of the two end times. But a limit that ends much later replaces the old limit. A
// limit with a known end also replaces a limit with an unknown end. If a turn meets an
// open limit again after the wait, the limit remains open with a longer wait.
func (s *Holds) Park(account string, l Limit, now time.Time) (Limit, error) {
	err := s.change(func(file *holdsFile) bool {
		old, known := file.Limits[account]
		switch longer := l.Until.Sub(old.Until); {
		case !known:
		case !old.Over && old.Until.After(now): // the old limit is still in effect
			switch {
			case l.Open:
				l = old
				return false
			case old.Open:
			case longer <= 0:
				l = old
				return false
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
		file.Limits[account] = l
		return true
	})
	return l, err
}

// LimitOf returns the limit of an account, the time at which an agent may resume work,
// and whether the limit still parks the agent.
func (s *Holds) LimitOf(account, agent string, now time.Time) (Limit, time.Time, bool) {
	l, ok := s.doc.Get().Limits[account]
	if !ok || l.Over {
		return l, time.Time{}, false
	}
	l, changed := l.corrected(now)
	if changed {
		// If the write fails, CatchUp retries it.
		_ = s.changeLimit(account, func(l *Limit) (changed bool) {
			*l, changed = l.corrected(now)
			return changed
		})
	}
	until := l.Until.Add(l.spread(agent))
	return l, until, until.After(now)
}

// changeLimit calls f, which changes the limit of an account, if there is one. f returns
// false if it changed nothing.
func (s *Holds) changeLimit(account string, f func(*Limit) bool) error {
	return s.change(func(file *holdsFile) bool {
		l, ok := file.Limits[account]
		if !ok || !f(&l) {
			return false
		}
		file.Limits[account] = l
		return true
	})
}

// LimitTold records that the lead was told about the limit that began at since.
func (s *Holds) LimitTold(account string, since time.Time) error {
	return s.changeLimit(account, func(l *Limit) bool {
		if !l.Since.Equal(since) || l.Told {
			return false
		}
		l.Told = true
		if l.Open && !slices.Contains(l.Hints, l.Hint) {
			l.Hints = append(slices.Clone(l.Hints), l.Hint)
		}
		return true
	})
}

// LiftLimit lets the agents of an account resume work before the limit ends.
func (s *Holds) LiftLimit(account string, now time.Time) error {
	return s.changeLimit(account, func(l *Limit) bool {
		if l.Over {
			return false
		}
		l.Over = true
		if l.Open {
			l.Until = now.UTC().Round(0) // the start of a later outage is compared with this time
		}
		return true
	})
}

// EndToTell returns the limit of an account, and whether people were told about the limit
// but not about its end. It is called when the limit has ended.
func (s *Holds) EndToTell(account string) (Limit, bool) {
	l := s.doc.Get().Limits[account]
	return l, l.Told && !l.Back
}

// EndTold records that people were told about the end of the limit that began at since.
func (s *Holds) EndTold(account string, since time.Time) error {
	return s.changeLimit(account, func(l *Limit) bool {
		if !l.Since.Equal(since) || l.Back {
			return false
		}
		l.Back = true
		return true
	})
}

// HasOpenLimit reports whether an account has a limit with an unknown end.
func (s *Holds) HasOpenLimit(account string) bool {
	l := s.doc.Get().Limits[account]
	return l.Open && !l.Over
}

// Backoff returns d doubled the given number of times, up to limit.
func Backoff(d time.Duration, times int, limit time.Duration) time.Duration {
	for range times {
		if d >= limit/2 {
			return limit
		}
		d *= 2
	}
	return min(d, limit)
}
