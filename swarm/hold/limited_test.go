package hold_test

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// limits answers with one limit, which parks only one agent of one account.
type limits journal.Limit

func (l limits) LimitOf(account, agent string, now time.Time) (journal.Limit, time.Time, bool) {
	end := l.Until.Add(time.Second)
	return journal.Limit(l), end, account == "account" && agent == "coder" && end.After(now)
}

func TestLimited(t *testing.T) {
	limit := func(until time.Duration, hint string) limits {
		return limits{Since: noon.Add(-time.Hour), Until: noon.Add(until), Why: "the usage limit has been reached", Hint: hint}
	}
	next := "continues on its own at " + at(time.Hour+time.Second) + ", or immediately after claude-swarm resume coder"
	parked := want{kind: hold.KindLimited, state: "limited", since: -time.Hour, until: time.Hour + time.Second, why: "the usage limit has been reached", next: next}
	hinted := parked
	hinted.next = "log in; " + next
	for name, c := range map[string]struct {
		limit          limits
		agent, account string
		want           want
	}{
		"parked":          {limit(time.Hour, ""), "coder", "account", parked},
		"with a hint":     {limit(time.Hour, "log in"), "coder", "account", hinted},
		"over":            {limit(-time.Hour, ""), "coder", "account", want{}},
		"another agent":   {limit(time.Hour, ""), "tester", "account", want{}},
		"another account": {limit(time.Hour, ""), "coder", "other", want{}},
	} {
		t.Run(name, func(t *testing.T) {
			q := about(journal.Hold{})
			q.Agent, q.Account = c.agent, func() string { return c.account }
			got := check(t, hold.Limited{Limits: c.limit}, q, c.want)
			if got.Kind != "" && (got.Limit.Account != "account" || got.Limit.Hint != c.limit.Hint || !got.Limit.Since.Equal(c.limit.Since)) {
				t.Errorf("limit = %+v", got.Limit)
			}
		})
	}
}
