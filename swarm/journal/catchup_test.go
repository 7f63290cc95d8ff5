package journal_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A running daemon counts the lines that a person's own session adds, each of them once. The
// figures are then those of a daemon that starts now.
//
// Siblings tried: a line before the daemon's line and one after it; a line beside the reading at
// startup; a torn line before it; a ledger that was deleted, moved or shortened.
func TestTheDaemonCountsTheLinesOfOthers(t *testing.T) {
	now := time.Now()
	others := func(t *testing.T, home journal.Home, turn string) {
		t.Helper()
		if err := journal.AppendLedger(home, journal.LedgerLine{Turn: turn, Agent: "ada", At: now, Via: journal.ViaAttach, Outcome: "done", CostUSD: 1}); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		change func(t *testing.T, home journal.Home, l *journal.Ledger)
		turns  int
	}{
		"between the daemon's lines": {func(t *testing.T, home journal.Home, l *journal.Ledger) {
			others(t, home, "b-1")
			addTurn(t, l, "c-1")
			others(t, home, "d-1")
		}, 4},
		"after a torn line": {func(t *testing.T, home journal.Home, l *journal.Ledger) {
			f, err := os.OpenFile(home.Ledger(), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString(`{"turn":"torn`)
			}
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			catchUp(t, l)
			others(t, home, "b-1")
		}, 2},
		"in a ledger that is then deleted": {func(t *testing.T, home journal.Home, l *journal.Ledger) {
			others(t, home, "b-1")
			if err := os.Remove(home.Ledger()); err != nil {
				t.Fatal(err)
			}
			others(t, home, "c-1")
			if _, err := l.Restore(); err != nil {
				t.Fatal(err)
			}
			others(t, home, "d-1")
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			home := journal.HomeOf(t.TempDir())
			if err := home.Make(); err != nil {
				t.Fatal(err)
			}
			others(t, home, "a-1")
			l, err := journal.OpenLedger(home, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			tc.change(t, home, l)
			catchUp(t, l)
			for range 2 {
				if added := catchUp(t, l); added != 0 {
					t.Errorf("%d lines were counted again", added)
				}
				if turns, usd := l.Turns("ada"), l.Cost("ada", now).Total; turns != tc.turns || usd != float64(tc.turns) {
					t.Errorf("%d turns, %v USD, want %d and %[3]d", turns, usd, tc.turns)
				}
			}
			later, err := journal.ReadSums(home)
			if err != nil || later.Turns("ada") != tc.turns {
				t.Errorf("the file has %d turns, %v, want %d", later.Turns("ada"), err, tc.turns)
			}
		})
	}
}

// After a ledger was moved or shortened, the lines that others add are counted too.
func TestLinesOfOthersInAnotherFile(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"moved":     func(path string) error { return os.Rename(path, path+".old") },
		"shortened": func(path string) error { return os.Truncate(path, 0) },
	} {
		home := journal.HomeOf(t.TempDir())
		if err := home.Make(); err != nil {
			t.Fatal(err)
		}
		l, err := journal.OpenLedger(home, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for n := range 3 {
			addTurn(t, l, fmt.Sprint("a-", n))
		}
		catchUp(t, l)
		if err := change(home.Ledger()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Restore(); err != nil {
			t.Fatal(err)
		}
		catchUp(t, l)
		if err := journal.AppendLedger(home, journal.LedgerLine{Turn: "b-1", Agent: "ada"}); err != nil {
			t.Fatal(err)
		}
		if added := catchUp(t, l); added != 1 || l.Turns("ada") != 4 {
			t.Errorf("%s: %d lines counted, %d turns, want 1 and 4", name, added, l.Turns("ada"))
		}
	}
}

func addTurn(t *testing.T, l *journal.Ledger, turn string) {
	t.Helper()
	if err := l.Add(journal.LedgerLine{Turn: turn, Agent: "ada", CostUSD: 1, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
}

func catchUp(t *testing.T, l *journal.Ledger) int {
	t.Helper()
	added, err := l.CatchUp()
	if err != nil {
		t.Fatal(err)
	}
	return len(added)
}
