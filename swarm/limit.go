package swarm

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// afterLimit says what follows, for an agent that is parked until then.
func afterLimit(l journal.Limit, agent string, until time.Time) string {
	s := "goes on by itself at " + screen.Ahead(until, time.Now()) + ", or at once after claude-swarm resume " + agent
	if l.Hint == "" {
		return s
	}
	return l.Hint + "; " + s
}

// liftOpenLimit ends an open limit after a good turn: the API takes work of this
// account again.
func (a *agent) liftOpenLimit() {
	account := a.account()
	if !a.holds.HasOpenLimit(account) {
		return
	}
	a.inbox.Note(a.holds.LiftLimit(account, time.Now()))
	a.wakeAll(account)
}

// limited parks every agent of the account. Nothing is counted, but for a message
// that was parked for an unknown cause for too long.
func (a *agent) limited(j *mail.Job, out runner.Outcome) error {
	now := time.Now()
	if out.Unknown && a.doubts(j.Claim.ID, now) >= longestDoubt {
		out.End = runner.Failed
		return a.failed(j, out)
	}
	if err := a.inbox.PutBackAll(j, out, false); err != nil {
		return err
	}
	account := a.account()
	l, err := a.holds.Park(account, journal.LimitFrom(a.name, out, a.spec().retryDelay(), now), now)
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
	if d := a.holds.Of(a.name).Doubt; d != nil && d.Message == message {
		return now.Round(0).Sub(d.Since)
	}
	a.inbox.Note(a.holds.Change(a.name, func(s *journal.Hold) {
		s.Doubt = &journal.Doubt{Message: message, Since: now.UTC().Round(0)}
	}))
	return 0
}

// tellLimit tells the lead of a limit, once for each thing to do about an outage.
// An agent that finds one that was not told of, as after a crash, tells.
func (a *agent) tellLimit(account string, l journal.Limit) {
	if l.Told {
		return
	}
	how := "until " + screen.Ahead(l.Until, time.Now())
	if l.Open {
		how = fmt.Sprintf("and tried again by themselves, in %s at first, then after longer waits of %s at most", screen.Took(journal.FirstWait), screen.Took(journal.LongestWait))
	}
	todo := ""
	if l.Hint != "" {
		todo = "\nWhat to do: " + l.Hint + ".\n"
	}
	a.house.mail.TellLead(l.Agent, fmt.Sprintf("limited:%s:%s:%d", account, l.Since.UTC().Format(time.RFC3339Nano), len(l.Hints)), "parked: "+l.Why, fmt.Sprintf(
		"%s: %s.\n\nAll agents of that account (%s) are parked %s, and go on by themselves. This is said once; claude-swarm status says since when, and when the next try is.\n%s\nTo try at once: claude-swarm resume %s\n",
		l.Agent, strings.TrimRight(l.Why, "."), strings.Join(a.sharing(account), ", "), how, todo, l.Agent))
	a.inbox.Note(a.holds.LimitTold(account, l.Since))
}

// sharing names the agents of an account.
func (a *agent) sharing(account string) []string {
	var names []string
	for _, spec := range a.plan().Agents {
		if accountOf(turn.BackendOf(a.deps.Backends, spec.Backend).Kind().Login, a.environ, spec) == account {
			names = append(names, spec.Name)
		}
	}
	return names
}
