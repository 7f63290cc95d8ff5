package runner_test

import (
	"os"
	"path/filepath"
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

func TestResolveLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"down": "a/b", "new": "a/not-yet", "a/up": "../new", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a": "a", "down": "a/b", "down/x/y": "a/b/x/y", "down/../x": "a/x", "new": "a/not-yet", "new/x": "a/not-yet/x", "a/up": "a/not-yet",
		"none/x": "none/x", "a/./b//x": "a/b/x", "loop": "loop",
	} {
		if got := runner.ResolveLinks(dir + "/" + path); got != filepath.Join(dir, want) {
			t.Errorf("%s leads to %s, want %s", path, got, filepath.Join(dir, want))
		}
	}
}
