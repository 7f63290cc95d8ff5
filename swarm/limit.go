package swarm

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A limit parks all agents of one account: its usage limit is reached, or the
// account or the service is at fault in another way. Nobody is to blame for it, so
// nothing is counted, and it ends by itself:
//
//	closed: the client said until when      Until is that time
//	open:   nobody knows until when         Until is the next try; the waits double
//	over:   a good turn, or a person's word  nobody is parked; kept for what the lead
//	        was told, since an outage that flickers is one outage
type limit struct {
	Since time.Time `json:"since,omitzero"`  // when an agent ran into it
	Until time.Time `json:"until"`           // when it is tried again, before the spread
	Open  bool      `json:"open,omitempty"`  // nobody said until when it holds
	Tries int       `json:"tries,omitempty"` // parkings in a row, of an open one
	Over  bool      `json:"over,omitempty"`
	Why   string    `json:"why"`
	Hint  string    `json:"hint,omitempty"` // what a person can do about it
	Agent string    `json:"agent,omitempty"`
	Told  bool      `json:"told,omitempty"`    // the lead knows
	Hints []string  `json:"told_of,omitempty"` // of this outage: with these hints the lead was told of it

	began time.Time     // since when its turn had no answer of the API
	first time.Duration // the wait after the first parking, of an open one
}

const (
	// firstWait and longestWait bound the pauses between two tries where nobody said
	// until when a limit holds. They double.
	firstWait   = 30 * time.Second
	longestWait = 10 * time.Minute
	// sameOutage is how long after a try the next one may fail and still belong to
	// the same outage.
	sameOutage = time.Hour
	// longestLimit bounds what a client says of a reset. The longest limits of
	// subscriptions are those of a week.
	longestLimit = 8 * 24 * time.Hour
)

// spread is how much later than the reset an agent comes back: each at a time of
// its own, the same after a restart, so that they do not all ask at once.
func (l limit) spread(agent string) time.Duration {
	span := l.Until.Sub(l.Since)
	if l.Open {
		span = backoff(firstWait, l.Tries-1, longestWait)
	}
	most := min(max(span/10, 2*time.Second), time.Minute)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", agent, l.Until.UnixNano())
	return time.Second + time.Duration(h.Sum64()%uint64(most))
}

// limitFrom makes the limit of a turn that ended Limited. Its times are those of
// the clock on the wall: a machine may sleep meanwhile.
func limitFrom(agent string, out runner.Outcome, atLeast time.Duration, now time.Time) limit {
	now = now.UTC().Round(0)
	l := limit{Since: now, Why: cmp.Or(out.Reason, "the usage limit is reached"), Hint: out.Hint, Agent: agent, began: now}
	if out.ContextTokens == 0 && out.Began.Before(now) && !out.Began.IsZero() {
		l.began = out.Began.UTC().Round(0)
	}
	switch longest := now.Add(longestLimit); {
	case out.ResetAt.IsZero():
		l.Open, l.first = true, firstWait
	case !out.ResetAt.After(now):
		// It is said to be over already, as where two clocks differ. It must not be
		// tried repeatedly without a pause.
		l.Open, l.first = true, min(atLeast, longestWait)
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

// afterLimit says what follows, for an agent that is parked until then.
func afterLimit(l limit, agent string, until time.Time) string {
	s := "goes on by itself at " + screen.Ahead(until, time.Now()) + ", or at once after claude-swarm resume " + agent
	if l.Hint == "" {
		return s
	}
	return l.Hint + "; " + s
}

// sameLimit is how far two agents may be apart in what they say of one limit.
const sameLimit = 10 * time.Minute

// park notes that an account is at its limit, and returns what holds from now on:
// where it was parked already, that goes on, as long as either says; a limit that
// holds much longer is another one. An open limit that is met again goes on with a
// longer wait.
func (s *standings) park(account string, l limit, now time.Time) (limit, error) {
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
		if !old.Over {
			l.Since, l.Tries = old.Since, old.Tries
		}
	case !l.Open && !old.Open && longer.Abs() < sameLimit:
		l.Told = old.Told
	}
	if l.Open {
		l.Tries++
		l.Until = now.UTC().Round(0).Add(backoff(l.first, l.Tries-1, longestWait))
	}
	s.file.Limits[account] = l
	return l, s.write()
}

// limitOf returns the limit that still parks an agent of an account, and until
// when.
func (s *standings) limitOf(account, agent string, now time.Time) (limit, time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.file.Limits[account]
	if !ok || l.Over {
		return l, time.Time{}, false
	}
	if ahead := l.Since.Sub(now); ahead > clockStep {
		// The clock was set back. How long it is parked already is not known; it is
		// not parked longer than that once more.
		l.Since, l.Until = l.Since.Add(-ahead), l.Until.Add(-ahead)
		s.file.Limits[account] = l
		_ = s.write() // catchUp tries again
	}
	until := l.Until.Add(l.spread(agent))
	return l, until, until.After(now)
}

// clockStep is how much a clock may be set back by its daily corrections.
const clockStep = time.Minute

// told notes that the lead knows of a limit.
func (s *standings) told(account string, since time.Time) error {
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

// liftLimit lets the agents of an account go on before its limit ends.
func (s *standings) liftLimit(account string, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.file.Limits[account]
	if !ok || l.Over {
		return nil
	}
	l.Over = true
	if l.Open {
		l.Until = now.UTC().Round(0) // from here on an outage is another one after a while
	}
	s.file.Limits[account] = l
	return s.write()
}

// openLimit tells whether an account has a limit that nobody knows the end of.
func (s *standings) openLimit(account string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.file.Limits[account]
	return l.Open && !l.Over
}

// liftOpenLimit ends an open limit after a good turn: the API takes work of this
// account again.
func (a *agent) liftOpenLimit() {
	account := a.account()
	if !a.holds.openLimit(account) {
		return
	}
	a.note(a.holds.liftLimit(account, time.Now()))
	a.wakeAll(account)
}

// limited parks every agent of the account. Nothing is counted, but for a message
// that was parked for an unknown cause for too long.
func (a *agent) limited(j *job, out runner.Outcome) error {
	now := time.Now()
	if out.Unknown && a.doubts(j.claim.ID, now) >= longestDoubt {
		out.End = runner.Failed
		return a.failed(j, out)
	}
	if err := a.putBackAll(j, out, false); err != nil {
		return err
	}
	account := a.account()
	l, err := a.holds.park(account, limitFrom(a.name, out, a.spec().retryDelay(), now), now)
	if err != nil {
		return err
	}
	a.wakeAll(account)
	a.tellLimit(account, l)
	return nil
}

// longestDoubt is how long a message is parked for a cause that nobody names.
// After that its turns count as failures.
const longestDoubt = 24 * time.Hour

// doubts notes that a message is parked for an unknown cause, and returns for how
// long it has been.
func (a *agent) doubts(message string, now time.Time) time.Duration {
	if d := a.holds.of(a.name).Doubt; d != nil && d.Message == message {
		return now.Round(0).Sub(d.Since)
	}
	a.note(a.holds.change(a.name, func(s *standing) {
		s.Doubt = &doubt{Message: message, Since: now.UTC().Round(0)}
	}))
	return 0
}

// tellLimit tells the lead of a limit, once for each thing to do about an outage.
// An agent that finds one that was not told of, as after a crash, tells.
func (a *agent) tellLimit(account string, l limit) {
	if l.Told {
		return
	}
	how := "until " + screen.Ahead(l.Until, time.Now())
	if l.Open {
		how = fmt.Sprintf("and tried again by themselves, in %s at first, then after longer waits of %s at most", screen.Took(firstWait), screen.Took(longestWait))
	}
	todo := ""
	if l.Hint != "" {
		todo = "\nWhat to do: " + l.Hint + ".\n"
	}
	a.house.tellLead(l.Agent, fmt.Sprintf("limited:%s:%s:%d", account, l.Since.UTC().Format(time.RFC3339Nano), len(l.Hints)), "parked: "+l.Why, fmt.Sprintf(
		"%s: %s.\n\nAll agents of that account (%s) are parked %s, and go on by themselves. This is said once; claude-swarm status says since when, and when the next try is.\n%s\nTo try at once: claude-swarm resume %s\n",
		l.Agent, strings.TrimRight(l.Why, "."), strings.Join(a.sharing(account), ", "), how, todo, l.Agent))
	a.note(a.holds.told(account, l.Since))
}

// sharing names the agents of an account.
func (a *agent) sharing(account string) []string {
	var names []string
	for _, spec := range a.plan().Agents {
		if accountOf(a.environ, spec) == account {
			names = append(names, spec.Name)
		}
	}
	return names
}
