package swarm_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// ledger returns the turns in the ledger and their total cost.
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

// A power cut loses the end of the ledger, because individual lines are not synced. At
// the next start the daemon restores each lost line once from receipts and records.
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

// An urgent message that was handled in a running turn has a receipt with the name of that
// turn, but no line in the ledger. The next start must neither report such a line as
// missing nor write it in place of the turn's own line.
func TestAnUrgentMessageHasNoSeparateLine(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{runnertest.TakeIn(), runnertest.Cost(3), runnertest.Say("did both")}
	}
	f.start()
	task := f.send("coder", "the long task")
	f.untilState("coder", swarm.Working)
	now := f.send("coder", "stop touching main.go", urgent)
	f.answer(task)
	f.answer(now)
	f.untilState("coder", swarm.Idle)
	f.halt()
	want, cost := f.ledger()
	if len(want) != 1 || cost != 3 {
		t.Fatalf("the ledger has %v, %v USD; want one turn, 3 USD", want, cost)
	}
	f.start()
	f.halt()
	if strings.Contains(f.log.String(), "lines were missing from the ledger") {
		t.Error("a start says that lines were missing, and none was")
	}
	if err := os.Truncate(journal.HomeOf(f.dir).Ledger(), 0); err != nil {
		t.Fatal(err)
	}
	f.start()
	f.halt()
	if got, cost := f.ledger(); !slices.Equal(got, want) || cost != 3 {
		t.Errorf("the ledger has %v, %v USD; want %v, 3 USD", got, cost, want)
	}
}
