package journal_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func TestPromptUUIDsDiffer(t *testing.T) {
	a, b := journal.PromptUUID("k7f3q9m2xd-1"), journal.PromptUUID("k7f3q9m2xd-2")
	if a == b || a != journal.PromptUUID("k7f3q9m2xd-1") || len(a) != 36 || a[14] != '5' {
		t.Errorf("uuids %s and %s", a, b)
	}
}
