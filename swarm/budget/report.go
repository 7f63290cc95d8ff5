package budget

import (
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Report is the state of the budget, as `status --json` and `budget --json` print it.
type Report struct {
	Billing string  `json:"billing"` // api, subscription, or "", which means that each client reports it
	Warn    float64 `json:"warn"`    // the fraction of a cap at which the lead is warned
	Scopes  []Row   `json:"scopes"`  // the scopes that have a cap
}

// A Row describes a scope that has a cap. In a unit without a cap, the cap and rest are
// null.
type Row struct {
	Scope    string     `json:"scope"`            // as a person types it: swarm.day, coder.day, task.ID, turn.ID
	Kind     Kind       `json:"kind"`             // what the cap limits
	Spent    Sum        `json:"spent"`            // only what counts against the cap
	Reserved Sum        `json:"reserved"`         // for running turns
	Cap      Bound      `json:"cap"`              // the cap; null in a unit without one
	Rest     Bound      `json:"rest"`             // what is left; null in a unit without a cap
	Flat     float64    `json:"subscription_usd"` // US dollars that a subscription covers, which do not count
	Assumed  float64    `json:"assumed_usd"`      // the US dollars in spent that were reserved for turns whose real cost is unknown, such as killed ones
	Full     []string   `json:"full"`             // the units that are used up
	Answer   Answer     `json:"answer"`           // the person's answer at the cap; "" if there is none
	Until    *time.Time `json:"until"`            // the end of the day; null if the scope is not daily
}

// A Sum is an amount in all units.
type Sum struct {
	USD     float64 `json:"usd"`     // US dollars
	Turns   int     `json:"turns"`   // number of turns
	Seconds float64 `json:"seconds"` // working time in seconds
}

// A Bound is an amount in the units that have a cap.
type Bound struct {
	USD     *float64 `json:"usd"`     // US dollars
	Turns   *int     `json:"turns"`   // number of turns
	Seconds *float64 `json:"seconds"` // working time in seconds
}

// Report returns the state of the budget, or nil if no cap is set. agents lists the names
// of the agents.
func (b *Book) Report(agents []string) *Report {
	if !b.Bounds() {
		return nil
	}
	lines := b.Lines(agents)
	b.mu.Lock()
	defer b.mu.Unlock()
	r := &Report{Billing: string(b.rules.Billing), Warn: b.rules.warn(), Scopes: []Row{}}
	for _, l := range lines {
		r.Scopes = append(r.Scopes, l.Row())
	}
	return r
}

// Row returns the line as a row of a report.
func (l Line) Row() Row {
	row := Row{
		Scope: l.Scope.String(), Kind: l.Kind, Spent: sumOf(l.Spent), Reserved: sumOf(l.Reserved), Cap: l.bound(l.Cap), Rest: l.bound(l.Rest()),
		Flat: l.Flat, Assumed: l.Assumed, Full: []string{}, Answer: l.Answer,
	}
	for _, u := range l.Full {
		row.Full = append(row.Full, u.String())
	}
	if !l.Until.IsZero() {
		row.Until = new(l.Until.UTC())
	}
	return row
}

func sumOf(a Amount) Sum { return Sum{a.Dollars(), int(a[Turns]), a.Span().Seconds()} }

// bound converts an amount, omitting the units in which the line has no cap.
func (l Line) bound(a Amount) (b Bound) {
	sum := sumOf(a)
	if l.Cap[USD] > 0 {
		b.USD = &sum.USD
	}
	if l.Cap[Turns] > 0 {
		b.Turns = &sum.Turns
	}
	if l.Cap[Time] > 0 {
		b.Seconds = &sum.Seconds
	}
	return b
}

// amount converts a sum back into an Amount.
func (s Sum) amount() Amount {
	return Of(s.USD, s.Turns, time.Duration(s.Seconds*float64(time.Second)))
}

func (b Bound) amount() (a Amount) {
	if b.USD != nil {
		a[USD] = Of(*b.USD, 0, 0)[USD]
	}
	if b.Turns != nil {
		a[Turns] = int64(*b.Turns)
	}
	if b.Seconds != nil {
		a[Time] = Of(0, 0, time.Duration(*b.Seconds*float64(time.Second)))[Time]
	}
	return a
}

// A Cell contains the strings for one unit of a row.
type Cell struct {
	Spent, Reserved, Cap, Rest string
	Full                       bool
	// Left says that less remains than a turn needs, such as "less than a cent is left". It is
	// "" if nothing remains, or if enough does.
	Left string
	Unit Unit
}

// Digits returns the number of decimals with which all US dollars of the report are shown, so
// that a column does not mix them.
func (r *Report) Digits() int {
	var all []float64
	for _, row := range r.Scopes {
		if row.Cap.USD != nil {
			all = append(all, row.Spent.USD, row.Reserved.USD, *row.Cap.USD, *row.Rest.USD)
		}
	}
	return screen.Digits(all...)
}

// Cells returns a cell for each unit of the row that has a cap. digits is the number of decimals
// for US dollars.
func (r Row) Cells(digits int) (list []Cell) {
	limit, rest := r.Cap.amount(), r.Rest.amount()
	spent, reserved := r.Spent.amount(), r.Reserved.amount()
	for _, u := range Units() {
		if limit[u] == 0 {
			continue
		}
		in := func(a Amount) string {
			if u == USD {
				return fmt.Sprintf("%.*f USD", digits, a.Dollars())
			}
			return a.In(u)
		}
		held := in(reserved)
		if reserved[u] == 0 {
			held = "-"
		}
		list = append(list, Cell{in(spent), held, in(limit), in(rest), limit[u]-spent[u] < min(least[u], limit[u]), left(u, limit, spent), u})
	}
	return list
}

// AboveHalf reports whether more than half of a cap of the row is spent.
func (r Row) AboveHalf() bool {
	limit, spent := r.Cap.amount(), r.Spent.amount()
	return slices.ContainsFunc(Units(), func(u Unit) bool { return limit[u] > 0 && 2*spent[u] > limit[u] })
}

// left describes the rest of a cap if a turn cannot begin with it; otherwise it returns "".
func left(u Unit, limit, spent Amount) string {
	rest := limit[u] - spent[u]
	switch {
	case rest <= 0 || rest >= min(least[u], limit[u]):
		return ""
	case u == USD:
		return "less than a cent is left"
	}
	return "less than " + least.In(u) + " is left"
}

// Left describes the rest of the block's cap if a turn cannot begin with it, such as "less than
// a cent is left". It returns "" if nothing is left.
func (b *Block) Left() string { return left(b.Unit, b.Cap, b.Spent) }
