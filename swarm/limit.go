package swarm

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A limit parks all agents of one account: its usage limit is reached, or the API
// takes nothing from it for another reason.
type limit struct {
	Since time.Time `json:"since,omitzero"` // when an agent ran into it
	Until time.Time `json:"until"`          // when it is tried again, before the spread
	Open  bool      `json:"open,omitempty"` // nobody said until when it holds
	Why   string    `json:"why"`
	Hint  string    `json:"hint,omitempty"` // what a person can do about it
	Agent string    `json:"agent,omitempty"`
	Told  bool      `json:"told,omitempty"` // the lead knows
}

const (
	// unknownReset is how long an account is parked when nobody said until when its
	// limit holds.
	unknownReset = 5 * time.Minute
	// longestLimit bounds what a client says of a reset. The longest limits of
	// subscriptions are those of a week.
	longestLimit = 8 * 24 * time.Hour
)

// spread is how much later than the reset an agent comes back: each at a time of
// its own, the same after a restart, so that they do not all ask at once.
func (l limit) spread(agent string) time.Duration {
	most := min(max(l.Until.Sub(l.Since)/10, 2*time.Second), time.Minute)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", agent, l.Until.UnixNano())
	return time.Second + time.Duration(h.Sum64()%uint64(most))
}

// limitFrom makes the limit of a turn that ended Limited. Its times are those of
// the clock on the wall: a machine may sleep meanwhile.
func limitFrom(agent string, out runner.Outcome, atLeast time.Duration, now time.Time) limit {
	now = now.UTC().Round(0)
	l := limit{Since: now, Why: orElse(out.Reason, "the usage limit is reached"), Hint: out.Hint, Agent: agent}
	if out.ResetAt.IsZero() {
		l.Open, l.Until = true, now.Add(unknownReset)
		return l
	}
	// A limit that is said to be over already, as where two clocks differ, must not
	// be tried again without a pause.
	l.Until = later(out.ResetAt.UTC().Round(0), now.Add(atLeast))
	if longest := now.Add(longestLimit); l.Until.After(longest) {
		l.Until = longest
	}
	return l
}

// next says what follows, for an agent that is parked until then.
func (l limit) next(agent string, until time.Time) string {
	s := "goes on by itself at " + clock(until) + ", or at once after claude-swarm resume " + agent
	if l.Hint == "" {
		return s
	}
	return l.Hint + "; " + s
}

// sameLimit is how far two agents may be apart in what they say of one limit.
const sameLimit = 10 * time.Minute

// park notes that an account is at its limit, and returns what holds from now on:
// where it was parked already, that goes on, as long as either says; a limit that
// holds much longer is another one.
func (s *standings) park(account string, l limit, now time.Time) (limit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, known := s.file.Limits[account]
	switch longer := l.Until.Sub(old.Until); {
	case !known || !old.Until.After(now) || old.Open && !l.Open:
	case longer <= 0:
		return old, nil
	case longer < sameLimit:
		old.Until = l.Until
		l = old
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
	if !ok {
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
	s.file.Limits[account] = l
	return s.write()
}

// liftLimit forgets the limit of an account.
func (s *standings) liftLimit(account string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.file.Limits[account]; !ok {
		return nil
	}
	delete(s.file.Limits, account)
	return s.write()
}

// limited parks every agent of the account. Nothing is counted.
func (a *agent) limited(j *job, out runner.Outcome) error {
	if err := a.putBackAll(j, out, false); err != nil {
		return err
	}
	now, account := time.Now(), a.account()
	l, err := a.books.standings.park(account, limitFrom(a.name, out, a.spec().retryDelay(), now), now)
	if err != nil {
		return err
	}
	a.wakeAll(account)
	a.tellLimit(account, l)
	return nil
}

// tellLimit tells the lead of a limit, once; of those without an end once a day.
// Whoever finds one that was not told of, as after a crash, tells.
func (a *agent) tellLimit(account string, l limit) {
	if l.Told {
		return
	}
	episode, how := l.Since.UTC().Format(time.RFC3339Nano), "until "+clock(l.Until)
	if l.Open {
		episode = fmt.Sprintf("%s:%x", utcDay(l.Since), sha256.Sum256([]byte(l.Why)))
		how = fmt.Sprintf("and tried again every %d minutes", int(unknownReset.Minutes()))
	}
	todo := ""
	if l.Hint != "" {
		todo = "\nWhat to do: " + l.Hint + ".\n"
	}
	a.house.tellLead(l.Agent, "limited:"+account+":"+episode, "parked: "+l.Why, fmt.Sprintf(
		"%s: %s.\n\nAll agents of that account (%s) are parked %s, and go on by themselves.\n%s\nTo try at once: claude-swarm resume %s\n",
		l.Agent, strings.TrimRight(l.Why, "."), strings.Join(a.sharing(account), ", "), how, todo, l.Agent))
	a.note(a.books.standings.told(account, l.Since))
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
