package journal_test

import (
	"os"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A ledger that is deleted at any moment of a check is restored with all its lines.
func TestALedgerDeletedDuringACheck(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	ledger, err := journal.OpenLedger(home, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	if err := ledger.Add(journal.LedgerLine{Turn: "k7f3q9m2xd-1", Agent: "coder"}); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		removed := make(chan error, 1)
		go func() { removed <- os.Remove(home.Ledger()) }()
		for range 3 {
			if _, err := ledger.Restore(); err != nil {
				t.Fatal(err)
			}
		}
		if err := <-removed; err != nil {
			t.Fatal(err)
		}
		if _, err := ledger.Restore(); err != nil {
			t.Fatal(err)
		}
		lines := 0
		if err := journal.ReadLedger(home.Ledger(), func(journal.LedgerLine) bool { lines++; return true }); err != nil || lines != 1 {
			t.Fatalf("%d lines, %v, want 1", lines, err)
		}
	}
}
