package swarm

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
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
	over := notice.Unpaused{Agent: strings.Join(a.sharing(account), ", "), Account: account, Since: l.Since, Why: why, By: by}
	if err := a.notices.Add(over); err != nil {
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
	a.notices.Tell(notice.Limited{Agent: l.Agent, Agents: agents, Account: account, Limit: l, Until: until})
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
