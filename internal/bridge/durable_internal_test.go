package bridge

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
)

// Open questions and joined channels are the old ones or the new ones, wherever the power
// goes.
func TestThePowerCutsInWhatTheBridgeKeeps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "joined.json")
	durabletest.Check(t, path, func(f durable.Files, n int) error { return keepBy(f, path, []string{fmt.Sprint("#c", n)}) })
}
