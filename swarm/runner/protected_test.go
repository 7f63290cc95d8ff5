package runner_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestAProtectedPathContainsWhatIsBelowIt(t *testing.T) {
	for _, test := range []struct {
		dir, name, path string
		want            bool
	}{
		{"/p", ".claude-swarm", "/p/.claude-swarm", true},
		{"/p", ".claude-swarm", "/p/.claude-swarm/tokens", true},
		{"/p", ".claude-swarm", "/p/.Claude-Swarm/tokens", true},
		{"/p", ".claude-swarm", "/p/.claude-swarm2", false},
		{"/p", ".claude-swarm", "/p/sub/.claude-swarm", false},
		{"/p", ".claude-swarm", "/q/.claude-swarm", false},
		{"/p", "", "/p", true},
		{"/p", "", "/p/a", true},
		{"/p", "", "/", false},
		{"/p", "**/.git", "/p/.git", true},
		{"/p", "**/.git", "/p/a/b/.git/config", true},
		{"/p", "**/.git", "/p/a/.github/x", false},
		{"/p", ".dead-drop/*/new", "/p/.dead-drop/coder/new/x.md", true},
		{"/p", ".dead-drop/*/new", "/p/.dead-drop/coder/x.md", false},
		{"/p", ".claude/settings*.json", "/p/.claude/settings.local.json", true},
		{"/p", ".claude/settings*.json", "/p/.claude/settings.md", false},
		{"/[a] p", "x", "/[a] p/x", true},
		{"/[a] p", "x", "/a p/x", false},
	} {
		p := runner.ProtectedPath{Dir: test.dir, Name: test.name}
		if got := p.Contains(test.path); got != test.want {
			t.Errorf("%+v contains %s: %v, want %v", p, test.path, got, test.want)
		}
	}
}

func TestAProtectedPathIsBelowAFolder(t *testing.T) {
	for _, test := range []struct {
		dir, name, folder string
		want              bool
	}{
		{"/p", ".claude-swarm", "/", true},
		{"/p", ".claude-swarm", "/p", true},
		{"/p", ".claude-swarm", "/p/.claude-swarm", true},
		{"/p", ".claude-swarm", "/p/src", false},
		{"/p", ".dead-drop/*/new", "/p/.dead-drop", true},
		{"/p", ".dead-drop/*/new", "/p/.dead-drop/coder", true},
		{"/p", ".dead-drop/*/new", "/p/.dead-drop/coder/work", false},
		{"/p", "**/.git", "/p/src", false},
		{"/p", "**/.git", "/p", true},
	} {
		p := runner.ProtectedPath{Dir: test.dir, Name: test.name}
		if got := p.IsBelow(test.folder); got != test.want {
			t.Errorf("%+v is below %s: %v, want %v", p, test.folder, got, test.want)
		}
	}
}
