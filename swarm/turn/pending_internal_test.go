package turn

import (
	"fmt"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// After a power cut at any step, the text that the next prompt gives back is either the
// old text or the new text.
func TestThePowerCutsInWhatTheNextPromptGivesBack(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	durabletest.Check(t, home.PendingFile("coder"), func(f durable.Files, n int) error {
		return (&memory{home: home.With(f), agent: "coder"}).setPending([]byte(fmt.Sprint(n)))
	})
}
