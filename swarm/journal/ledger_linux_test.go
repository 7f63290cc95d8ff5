package journal_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A ledger that cannot be read is not treated as an empty one, even if lines could be added.
func TestALedgerThatCannotBeRead(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	// The memory of this process can be opened, but there is nothing at its beginning.
	if err := os.Symlink("/proc/self/mem", home.Ledger()); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.OpenLedger(home, nil); !errors.Is(err, syscall.EIO) {
		t.Errorf("OpenLedger = %v, want %v", err, syscall.EIO)
	}
	if _, err := journal.ReadSums(home); !errors.Is(err, syscall.EIO) {
		t.Errorf("ReadSums = %v, want %v", err, syscall.EIO)
	}
}
