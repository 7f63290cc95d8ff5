package swarm

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// liftOpenLimit ends an open limit after a successful turn, because such a turn shows
// that the API accepts work from this account again.
func (a *agent) liftOpenLimit() {
	account := a.account()
	if a.holds.HasOpenLimit(account) {
		a.inbox.Note(a.holds.LiftLimit(account, time.Now()))
		a.wakeAll(account)
	}
	a.tellLimitOver(account, "a turn succeeded again", "")
}

// tellLimitOver tells people once that a limit is over, if they were told about that
// limit.
func (a *agent) tellLimitOver(account, why, by string) {
	l, tell := a.holds.EndToTell(account)
	if !tell {
		return
	}
	n := journal.Notice{Word: journal.Unpaused, Agent: strings.Join(a.sharing(account), ", "), Why: why, By: by}
	if err := a.deps.mail.Raise(fmt.Sprintf("unpaused:%s:%s", account, l.Since.UTC().Format(time.RFC3339Nano)), n, "", ""); err != nil {
		a.inbox.Note(err)
		return // the next successful turn reports it
	}
	a.inbox.Note(a.holds.EndTold(account, l.Since))
}

// tellLimit tells the lead once about a limit. During an outage it tells the lead once
// for each different hint. If the limit has not been reported, for example because of a
// crash, the next agent that finds the limit reports it.
func (a *agent) tellLimit(account string, l journal.Limit) {
	if l.Told {
		return
	}
	agents, until := a.sharing(account), l.Until
	if _, end, limited := a.holds.LimitOf(account, a.name, time.Now()); limited && len(agents) == 1 {
		until = end // several agents begin one after another from l.Until on
	}
	how := "until " + screen.Ahead(until, time.Now())
	if l.Open {
		how = fmt.Sprintf("for %s at first, then for longer each time, up to %s", screen.Took(journal.FirstWait), screen.Took(journal.LongestWait))
	}
	todo := ""
	if l.Hint != "" {
		todo = "\nWhat to do: " + l.Hint + ".\n"
	}
	wait := "wait "
	if len(agents) == 1 {
		wait = "waits "
	}
	n := journal.Notice{Word: journal.LimitReached, Agent: strings.Join(agents, ", "), Why: wait + how + ": " + strings.TrimRight(l.Why, "."), Next: l.Hint}
	a.deps.mail.TellNotice(l.Agent, fmt.Sprintf("limited:%s:%s:%d", account, l.Since.UTC().Format(time.RFC3339Nano), len(l.Hints)), n, "parked: "+l.Why, fmt.Sprintf(
		"%s: %s.\n\nAll agents on that account (%s) are parked %s, and continue on their own. You will be told this only once; claude-swarm status shows when they were parked, and when the next try is.\n%s\nTo try now: claude-swarm resume %s\n",
		l.Agent, strings.TrimRight(l.Why, "."), strings.Join(agents, ", "), how, todo, l.Agent))
	a.inbox.Note(a.holds.LimitTold(account, l.Since))
}

// sharing returns the names of the agents that share an account.
func (d *deps) sharing(account string) []string {
	var names []string
	for _, spec := range d.plan().Agents {
		if accountOf(turn.BackendOf(d.turnDeps.Backends, spec.Backend).Kind().Login, d.environ, spec) == account {
			names = append(names, spec.Name)
		}
	}
	return names
}
