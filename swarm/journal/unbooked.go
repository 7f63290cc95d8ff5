package journal

import (
	"cmp"
	"fmt"
	"math"
)

// OutcomeUnbooked is the outcome of a ledger line that is not a turn: it books the part of a
// session's cost that no result of a turn contained. If the client cuts a sub-agent off at the
// cap, or is killed, it reports the cost of that work only in the session's total, with the
// next turn of the session.
const OutcomeUnbooked = "unbooked"

// leastUnbooked is the smallest difference, in US dollars, that is booked. Totals are sums of
// floating-point numbers.
const leastUnbooked = 1e-6

// mostUnbooked is the largest difference, in US dollars, that is believed.
const mostUnbooked = 10_000

// A booked is the part of an agent's current session that the ledger contains, in US dollars.
type booked struct {
	session string
	usd     float64 // the client's total at its last result, and the known cost of the turns since then
	turn    string  // the last turn of the session
	trace   string
	// counted is the amount, in US dollars, that the budget has counted for turns with an
	// incomplete cost since that result, in addition to the known part of their cost.
	counted float64
}

// after returns what is booked after the next line of the agent. It returns the zero value if
// the total of the line's session is not known.
func (b booked) after(l LedgerLine) booked {
	switch {
	case l.Session == "":
		return b // the client did not get as far as its session
	case l.Via == ViaAttach:
		return booked{} // the person's own turns cost an unknown amount
	case l.SessionUSD > 0:
		b = booked{session: l.Session, usd: l.SessionUSD}
	case l.Session != b.session:
		return booked{}
	default:
		b.usd += l.CostUSD
	}
	if l.Outcome == OutcomeUnbooked {
		b.counted = 0
		return b
	}
	if l.CostUnknown {
		b.counted += max(0, l.ReservedUSD-l.CostUSD)
	}
	b.turn, b.trace = l.Turn, l.Trace
	return b
}

// unbooked returns the line that must precede l because the total of l's session is higher
// than the cost of all its turns. ok is false if it is not, or if that cannot be known.
func (b booked) unbooked(l LedgerLine) (line LedgerLine, ok bool) {
	usd := math.Round((l.SessionUSD-b.usd-l.CostUSD)*1e9) / 1e9
	if l.SessionUSD <= 0 || l.Session == "" || l.Session != b.session || !(usd >= leastUnbooked && usd <= mostUnbooked) {
		return LedgerLine{}, false
	}
	return LedgerLine{
		At: l.At, Turn: unbookedIn(l.Turn), Agent: l.Agent, Trace: b.trace, From: l.Agent, Subject: "cost of its session that was in no turn",
		Outcome: OutcomeUnbooked, Reason: fmt.Sprintf("the total of the session, in turn %s, is higher than the cost of its turns up to %s", l.Turn, cmp.Or(b.turn, "then")),
		CostUSD: usd, ReservedUSD: b.counted, Billing: l.Billing, Client: l.Client, Model: l.Model, Session: l.Session,
	}, true
}

// unbookedIn returns the name of the line that books what the total in a turn has shown.
func unbookedIn(turn string) string { return turn + "-" + OutcomeUnbooked }

// Unbooked returns the line that books the cost that was discovered in a turn, if there is
// one. It knows those that were added by this daemon, and those of the last two days.
func (l *Ledger) Unbooked(turn string) (LedgerLine, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line, ok := l.unbooked[unbookedIn(turn)]
	return line, ok
}
