package swarm_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ledger returns the turns of the ledger and their total cost.
func (f *field) ledger() (turns []string, cost float64) {
	f.t.Helper()
	err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
		turns = append(turns, l.Turn)
		cost += l.CostUSD
		return true
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return turns, cost
}

// A power cut loses the end of the ledger, because single lines are not synced. The next
// start writes each lost line once, from receipts and records.
func TestLinesThatAPowerCutTookAreMadeAgain(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	tries := 0
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if tries++; tries == 2 {
			return []runnertest.Step{runnertest.Cost(4), runnertest.Fail("no luck")}
		}
		return []runnertest.Step{runnertest.Cost(1), runnertest.Say("done")}
	}
	f.start()
	f.answer(f.send("coder", "first"))
	f.untilState("coder", swarm.Idle)
	f.send("coder", "news", typed("note"))
	f.until("the note is seen", func() bool { return f.status("coder").Waiting.Total() == 1 })
	f.answer(f.send("coder", "second", subject("the second")))
	f.answer(f.send("reviewer", "third"))
	f.untilState("coder", swarm.Idle)
	f.untilState("reviewer", swarm.Idle)
	f.halt()
	want, cost := f.ledger()
	if len(want) != 4 || cost != 7 {
		t.Fatalf("the ledger has %v, %v USD", want, cost)
	}

	path := journal.HomeOf(f.dir).Ledger()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, left := range map[string][]byte{
		"whole":              whole,
		"all but a line":     bytes.Join(lines[:3], nil),
		"half a line":        append(bytes.Clone(lines[0]), lines[1][:20]...),
		"a line of zeros":    append(bytes.Clone(lines[0]), make([]byte, 100)...),
		"nothing":            nil,
		"the middle is lost": append(bytes.Clone(lines[0]), lines[3]...),
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(path, left, 0o600); err != nil {
				t.Fatal(err)
			}
			f.start()
			sum := f.status("coder").CostUSD.Total + f.status("reviewer").CostUSD.Total
			f.halt()
			got, cost := f.ledger()
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) || cost != 7 || sum != 7 {
				t.Errorf("the ledger has %v, %v USD, the status says %v USD; want %v, 7 USD", got, cost, sum, want)
			}
		})
	}
}
