package swarm

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// usageLimits begins and ends the usage limits of accounts, and tells people about them. It is
// safe for concurrent use.
type usageLimits struct {
	holds    *journal.Holds
	notices  *notice.Teller
	mail     *mail.Service
	accounts accounts
	wake     func(account string) // wakes every agent that uses an account
}

// park begins a limit, which parks every agent of the account. The agent with this name met it.
func (u *usageLimits) park(agent, account string, limit journal.Limit, now time.Time) error {
	l, err := u.holds.Park(account, limit, now)
	if err != nil {
		return err
	}
	u.wake(account)
	u.tell(agent, account, l)
	return nil
}

// liftOpen ends an open limit after a successful turn, because such a turn shows that the API
// accepts work from this account again.
func (u *usageLimits) liftOpen(account string) {
	if u.holds.HasOpenLimit(account) {
		u.mail.Note(u.holds.LiftLimit(account, time.Now()))
		u.wake(account)
	}
	u.tellOver(account, "a turn succeeded again", "")
}

// tellOver tells people once that a limit is over, if they were told about that limit.
func (u *usageLimits) tellOver(account, why, by string) {
	l, tell := u.holds.EndToTell(account)
	if !tell {
		return
	}
	over := notice.Unpaused{Agent: strings.Join(u.accounts.sharing(account), ", "), Account: account, Since: l.Since, Why: why, By: by}
	if err := u.notices.Add(over); err != nil {
		u.mail.Note(err)
		return // the next successful turn reports it
	}
	u.mail.Note(u.holds.EndTold(account, l.Since))
}

// tell tells the lead once about a limit that the named agent has found. During an outage it
// tells the lead once for each different hint. If the limit has not been reported, for example
// because of a crash, the next agent that finds the limit reports it.
func (u *usageLimits) tell(agent, account string, l journal.Limit) {
	if l.Told {
		return
	}
	agents, until := u.accounts.sharing(account), l.Until
	if _, end, limited := u.holds.LimitOf(account, agent, time.Now()); limited && len(agents) == 1 {
		until = end // several agents begin one after another from l.Until on
	}
	u.notices.Tell(notice.Limited{Agent: l.Agent, Agents: agents, Account: account, Limit: l, Until: until})
	u.mail.Note(u.holds.LimitTold(account, l.Since))
}
