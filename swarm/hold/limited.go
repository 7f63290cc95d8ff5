package hold

import (
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// KindLimited is the kind of [Limited].
const KindLimited Kind = "limited"

// Limited holds the agents of an account that has reached its usage limit, or whose service
// fails.
type Limited struct {
	Limits interface {
		// LimitOf returns the limit of an account, when the agent may work again, and
		// whether the limit still parks the agent.
		LimitOf(account, agent string, now time.Time) (journal.Limit, time.Time, bool)
	}
}

// An AccountLimit is the limit of an account.
type AccountLimit struct {
	Account string
	journal.Limit
}

// Now implements [Hold].
func (h Limited) Now(q Query) (Held, bool) {
	account := q.Account()
	l, end, parked := h.Limits.LimitOf(account, q.Agent, q.Now)
	if !parked {
		return Held{}, false
	}
	next := "continues on its own at " + screen.Ahead(end, q.Now) + ", or immediately after claude-swarm resume " + q.Agent
	if l.Hint != "" {
		next = l.Hint + "; " + next
	}
	return Held{
		Kind: KindLimited, State: limited, Since: l.Since, Until: end, Why: l.Why, Next: next,
		Limit: &AccountLimit{Account: account, Limit: l},
	}, true
}
