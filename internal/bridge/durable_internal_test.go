package bridge

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
)

// After a power cut at any step, the file of open questions or of joined channels
// contains either the old list or the new one.
func TestThePowerCutsInWhatTheBridgeKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "joined.json")
	durabletest.Check(t, path, func(f durable.Files, n int) error { return keepBy(f, path, []string{fmt.Sprint("#c", n)}) })
}
