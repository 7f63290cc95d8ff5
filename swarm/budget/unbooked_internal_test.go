package budget

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A turn with an incomplete cost counts with its whole reservation. The part of its cost that
// becomes known later counts only as far as it exceeds that, and it is not a turn.
func TestUnbookedCostCountsOnce(t *testing.T) {
	for name, c := range map[string]struct{ cost, reserved, later, want float64 }{
		"more than was reserved": {0.01, 0.5, 0.7, 0.71},
		"less than was reserved": {0.01, 0.5, 0.2, 0.5},
		"nothing was reserved":   {0.01, 0, 0.7, 0.71},
	} {
		counted := max(0, c.reserved-c.cost)
		turn := Rules{}.usedBy(journal.LedgerLine{Turn: "a-1", Agent: "coder", Outcome: "capped", CostUSD: c.cost, CostUnknown: true, ReservedUSD: c.reserved})
		rest := Rules{}.usedBy(journal.LedgerLine{Turn: "b-1-unbooked", Agent: "coder", Outcome: journal.OutcomeUnbooked, CostUSD: c.later, ReservedUSD: counted})
		if got, want := turn[USD]+rest[USD], Of(c.want, 0, 0)[USD]; got != want {
			t.Errorf("%s: %v count, want %v", name, got, want)
		}
		if got, want := turn[assumed]+rest[assumed], Of(max(0, counted-c.later), 0, 0)[USD]; got != want {
			t.Errorf("%s: %v count although they are not known to be spent, want %v", name, got, want)
		}
		if turn[Turns] != 1 || rest[Turns] != 0 {
			t.Errorf("%s: %v and %v turns count, want 1 and 0", name, turn[Turns], rest[Turns])
		}
	}
}
