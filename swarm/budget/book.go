package budget

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Book tracks the spent and reserved amounts of each scope. After [Open] the caller passes
// every line of the ledger to [Book.Settle], and the record of every turn that has not ended
// to [Book.Restore].
type Book struct {
	home journal.Home
	now  func() time.Time

	mu      sync.Mutex
	rules   Rules
	spent   spent
	open    map[*Reservation]bool
	said    *durable.Doc[saidFile]
	billing map[string]runner.Billing // the last billing that each agent's client reported
	version uint64                    // see Version
}

// Open returns a book in which nothing has been spent. now returns the time; nil means
// the system clock. If the error is a [*durable.DamagedError], the book is usable but
// lacks the raises and answers that people gave.
func Open(home journal.Home, rules Rules, now func() time.Time) (*Book, error) {
	if now == nil {
		now = time.Now
	}
	said, err := openSaid(home)
	if _, damaged := errors.AsType[*durable.DamagedError](err); err != nil && !damaged {
		return nil, err
	}
	return &Book{
		home: home, now: now, rules: rules, spent: newSpent(), open: map[*Reservation]bool{}, said: said,
		billing: map[string]runner.Billing{},
	}, err
}

// SetRules replaces the caps.
func (b *Book) SetRules(r Rules) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rules = r
	b.version++
}

// Bounds reports whether any cap is set.
func (b *Book) Bounds() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rules.Bounds()
}

// Version returns a number that changes whenever a blocked turn may have become able to
// start. The end of a day does not change it.
func (b *Book) Version() uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// Settle adds the amount in a ledger line to the spent amounts, and subtracts it from the
// turn's reservation. The caller passes each line once.
func (b *Book) Settle(l journal.LedgerLine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	used := b.rules.usedBy(l)
	b.spent.add(l, used)
	if l.Billing != runner.BillingUnknown {
		b.billing[l.Agent] = l.Billing
	}
	for r := range b.open {
		if r.Agent == l.Agent && r.Message == cmp.Or(l.Message, l.Turn) {
			r.rest, r.turn = r.rest.less(used), ""
		}
	}
	if used[Turns] > 0 {
		b.passed(l.Message, l.At)
	}
	b.version++
}

// noWork lists the outcomes of turns in which the client did no work. The daemon retries
// such turns.
var noWork = []string{
	string(runner.NoFirstEvent), string(runner.NoSession), string(runner.PromptNotRun), string(runner.ClientGone),
	string(runner.NoResources), string(runner.BadSetup), string(runner.Limited),
	journal.OutcomeUnbooked,
}

// usedBy returns the amount that a turn has used. If the cost is unknown, the whole
// reservation counts. A person's own session has no cap and does not count. Judgements,
// and turns in which the client did no work, do not count as turns.
func (r Rules) usedBy(l journal.LedgerLine) Amount {
	if l.Via == journal.ViaAttach {
		return Amount{}
	}
	usd := l.CostUSD
	if l.CostUnknown {
		usd = max(usd, l.ReservedUSD)
	}
	if l.Outcome == journal.OutcomeUnbooked { // the reservation of the turn with an unknown cost is already counted
		usd = max(0, l.CostUSD-l.ReservedUSD)
	}
	turns := 1
	if slices.Contains(noWork, l.Outcome) || r.judges(l.Agent) {
		turns = 0
	}
	used := Of(usd, turns, time.Duration(max(0, l.Seconds)*float64(time.Second)))
	if l.Billing == runner.BillingSubscription {
		used[flat] = used[USD]
	}
	switch {
	case cmp.Or(r.Billing, l.Billing) == runner.BillingSubscription: // dollars do not count
	case l.CostUnknown:
		used[assumed] = Of(usd-l.CostUSD, 0, 0)[USD]
	case l.Outcome == journal.OutcomeUnbooked: // this cost is now known
		used[assumed] = -Of(min(l.CostUSD, l.ReservedUSD), 0, 0)[USD]
	}
	return used
}

// flatly reports whether a subscription pays for an agent's work. If it does, the agent's
// dollars do not count. The caller holds the mutex.
func (b *Book) flatly(agent string) bool {
	billing := b.rules.Billing
	if billing == runner.BillingUnknown {
		billing = b.billing[agent]
	}
	return billing == runner.BillingSubscription
}

// counts returns the part of an amount that counts against a cap.
func (r Rules) counts(a Amount) Amount {
	switch r.Billing {
	case runner.BillingSubscription:
		a[USD] = 0
	case runner.BillingUnknown:
		a[USD] -= a[flat]
	}
	a[flat], a[assumed] = 0, 0
	return a
}

// reserved returns the amount that is reserved in a scope. The caller holds the mutex.
func (b *Book) reserved(s Scope) (sum Amount) {
	for r := range b.open {
		if slices.Contains(r.scopes(), s) {
			sum = sum.plus(r.rest)
		}
	}
	return sum
}

// spentIn returns the amount that counts against the cap of a scope. The caller holds the
// mutex.
func (b *Book) spentIn(s Scope) Amount {
	now := b.now()
	return b.rules.counts(b.spent.of(s, b.rules.midnight(now), now))
}

// limit returns the cap of a scope, including everything that people added to it. 0 means
// that the unit has no cap. agent is the agent of the turn.
func (b *Book) limit(s Scope, agent string) Amount {
	limit, more := b.rules.cap(s, agent), b.saidOf(s).Raised.amount()
	if b.rules.judges(agent) {
		limit[Turns] = 0
	}
	for u := range limit {
		if limit[u] == 0 {
			more[u] = 0
		}
	}
	return limit.plus(more)
}
