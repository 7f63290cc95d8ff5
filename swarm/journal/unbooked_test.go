package journal_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The client cuts a sub-agent off at the cap, or is killed, and reports its cost only in the
// total of the session, with the session's next turn. Each step is a turn, or a restart of the
// daemon; want lists the cost that was booked in addition to the turns'.
func TestUnbooked(t *testing.T) {
	type turn struct {
		session            string
		usd, total         float64
		unknown            bool
		via                string
		reserved, excluded float64 // excluded is the amount that the budget has already counted for the line that is added
	}
	const restart = "restart"
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		turns []turn
		want  []float64
	}{
		"every turn is booked":           {[]turn{{"a", 0.1, 0.1, false, "", 0, 0}, {"a", 0.2, 0.3, false, "", 0, 0}}, nil},
		"sums of many small amounts":     {[]turn{{"a", 0.1, 0.1, false, "", 0, 0}, {"a", 0.2, 0.30000000000000004, false, "", 0, 0}}, nil},
		"cut off at the cap":             {[]turn{{"a", 0.01, 0.01, true, "", 0, 0}, {"a", 0.2, 0.91, false, "", 0, 0}, {"a", 0.1, 1.01, false, "", 0, 0}}, []float64{0.7}},
		"a part of it was reserved":      {[]turn{{"a", 0.01, 0.01, true, "", 0.5, 0}, {"a", 0.2, 0.91, false, "", 0.5, 0.49}}, []float64{0.7}},
		"twice":                          {[]turn{{"a", 0.01, 0.01, true, "", 0, 0}, {"a", 0.2, 0.91, true, "", 0, 0}, {"a", 0.1, 1.51, false, "", 0, 0}}, []float64{0.7, 0.5}},
		"a restart in between":           {[]turn{{"a", 0.01, 0.01, true, "", 0, 0}, {session: restart}, {"a", 0.2, 0.91, false, "", 0, 0}, {session: restart}, {"a", 0.1, 1.01, false, "", 0, 0}}, []float64{0.7}},
		"a turn without a result":        {[]turn{{"a", 0.1, 0.1, false, "", 0, 0}, {"a", 0, 0, true, "", 0, 0}, {"a", 0.2, 0.7, false, "", 0, 0}}, []float64{0.4}},
		"without a session":              {[]turn{{"a", 0.1, 0.1, false, "", 0, 0}, {"", 0, 0, true, "", 0, 0}, {"a", 0.2, 0.7, false, "", 0, 0}}, []float64{0.4}},
		"a new session in between":       {[]turn{{"a", 0.01, 0.01, true, "", 0, 0}, {"b", 0.2, 0.2, false, "", 0, 0}}, nil},
		"back in the old session":        {[]turn{{"a", 0.01, 0.01, true, "", 0, 0}, {"b", 0.2, 0.2, false, "", 0, 0}, {"a", 0.2, 0.91, false, "", 0, 0}}, nil},
		"a total that began earlier":     {[]turn{{"a", 0.2, 5, false, "", 0, 0}, {"a", 0.2, 5.2, false, "", 0, 0}}, nil},
		"a total that is not known":      {[]turn{{"a", 0.1, 0, false, "", 0, 0}, {"a", 0.2, 0.9, false, "", 0, 0}}, nil},
		"a total that began again":       {[]turn{{"a", 0.5, 0.5, false, "", 0, 0}, {"a", 0.1, 0.1, false, "", 0, 0}, {"a", 0.1, 0.2, false, "", 0, 0}}, nil},
		"a total below zero":             {[]turn{{"a", 0.5, 0.5, false, "", 0, 0}, {"a", 0.1, -3, false, "", 0, 0}, {"a", 0.1, 0.7, false, "", 0, 0}}, nil},
		"a total that nobody believes":   {[]turn{{"a", 0.5, 0.5, false, "", 0, 0}, {"a", 0.1, 1e9, false, "", 0, 0}}, nil},
		"a total that is no number":      {[]turn{{"a", 0.5, 0.5, false, "", 0, 0}, {"a", 0.1, math.NaN(), false, "", 0, 0}}, nil},
		"an infinite total":              {[]turn{{"a", 0.5, 0.5, false, "", 0, 0}, {"a", 0.1, inf, false, "", 0, 0}}, nil},
		"the person's own session":       {[]turn{{"a", 0.1, 0.1, false, "", 0, 0}, {"a", 0, 0, true, journal.ViaAttach, 0, 0}, {"a", 0.1, 3, false, "", 0, 0}}, nil},
		"another version without totals": {[]turn{{"a", 0.1, 0.1, false, "", 0, 0}, {"a", 0.3, 0, false, "", 0, 0}, {"a", 0.1, 0.5, false, "", 0, 0}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := journal.HomeOf(t.TempDir())
			if err := home.Make(); err != nil {
				t.Fatal(err)
			}
			ledger, err := journal.OpenLedger(home, nil)
			if err != nil {
				t.Fatal(err)
			}
			var total float64
			turns := 0
			for i, one := range c.turns {
				if one.session == restart {
					if ledger, err = journal.OpenLedger(home, nil); err != nil {
						t.Fatal(err)
					}
					continue
				}
				turns++
				total += one.usd
				line := journal.LedgerLine{
					At: time.Now(), Turn: journal.TurnID("k7f3q9m2xd", i, 0), Agent: "coder", Trace: "k7f3q9m2xd", Outcome: journal.OutcomeDone,
					Session: one.session, CostUSD: one.usd, SessionUSD: one.total, CostUnknown: one.unknown, Via: one.via, ReservedUSD: one.reserved,
				}
				if math.IsNaN(one.total) || math.IsInf(one.total, 0) {
					line.SessionUSD = 0 // [runner.Account] does not report it, and JSON has no such number
				}
				for range 2 { // after a crash, the turn is filed again
					if err := ledger.Add(line); err != nil {
						t.Fatal(err)
					}
				}
				more, ok := ledger.Unbooked(line.Turn)
				if ok && (more.ReservedUSD != one.excluded || more.Session != one.session || more.Trace != line.Trace || more.Turn == line.Turn) {
					t.Errorf("the line is %+v", more)
				}
			}
			var got []float64
			if err := journal.ReadLedger(home.Ledger(), func(l journal.LedgerLine) bool {
				if l.Outcome == journal.OutcomeUnbooked {
					got = append(got, l.CostUSD)
					total += l.CostUSD
				}
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("booked in addition (-want +got):\n%s", diff)
			}
			if cost := ledger.Cost("coder", time.Now()); math.Abs(cost.Total-total) > 1e-9 || math.Abs(cost.Today-total) > 1e-9 {
				t.Errorf("the cost is %+v, want %v", cost, total)
			}
			if n := ledger.Turns("coder"); n != turns {
				t.Errorf("%d turns, want %d", n, turns)
			}
			if last, _ := ledger.Last("coder"); last.Outcome != journal.OutcomeDone {
				t.Errorf("the last turn is %+v", last)
			}
		})
	}
}
