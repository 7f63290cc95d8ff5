package turn

import (
	"fmt"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The text that the next prompt gives back is the old or the new one after a power cut at
// any step.
func TestThePowerCutsInWhatTheNextPromptGivesBack(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	durabletest.Check(t, home.PendingFile("coder"), func(f durable.Files, n int) error {
		return (&memory{home: home.With(f), agent: "coder"}).setPending([]byte(fmt.Sprint(n)))
	})
}
