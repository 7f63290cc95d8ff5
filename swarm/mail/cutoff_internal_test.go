package mail

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A record that cannot be read does not count as an interrupted attempt.
func TestCutOffsOfARecordThatCannotBeRead(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := os.MkdirAll(filepath.Join(home.Turns(), "aaaaaaaaaa-2.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if n, _, err := cutOffs(home, "aaaaaaaaaa", 2); err == nil {
		t.Errorf("cutOffs = %d, want the error", n)
	}
}
