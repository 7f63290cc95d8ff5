package swarm

import (
	"fmt"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
)

// What the next prompt gives back is the old text or the new one, wherever the power goes.
func TestThePowerCutsInWhatTheNextPromptGivesBack(t *testing.T) {
	home := HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	durabletest.Check(t, home.pendingFile("coder"), func(f durable.Files, n int) error {
		return (&memory{home: home.with(f), agent: "coder"}).setPending([]byte(fmt.Sprint(n)))
	})
}
