package claude

import (
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A folder's name is taken literally, and a protected name is a pattern.
func TestDeniedFiles(t *testing.T) {
	got := denied(runner.Protected{
		Unread:    []runner.ProtectedPath{{Dir: "/p/.claude-swarm"}},
		Unwritten: []runner.ProtectedPath{{Dir: `/a [b] (c)\*`, Name: ".dead-drop/*/new"}, {Dir: "/", Name: "**/.git"}},
	})
	want := []string{
		"Read(//p/.claude-swarm)", "Read(//p/.claude-swarm/**)", "Edit(//p/.claude-swarm)", "Edit(//p/.claude-swarm/**)",
		"Edit(//a??b???c???/.dead-drop/*/new)", "Edit(//a??b???c???/.dead-drop/*/new/**)", "Edit(//**/.git)", "Edit(//**/.git/**)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rules are\n%q, want\n%q", got, want)
	}
}
