package turn_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

func inAny(all []runner.ProtectedPath, file string) bool {
	return slices.ContainsFunc(all, func(p runner.ProtectedPath) bool { return p.Contains(file) })
}

// One list names the files of the swarm, of git and of all clients, wherever an agent runs
// and whatever variables its client has.
func TestProtectedFiles(t *testing.T) {
	base := t.TempDir()
	main, tree, link := filepath.Join(base, "main"), filepath.Join(base, "tree"), filepath.Join(base, "link")
	for _, dir := range []string{main + "/.git/worktrees/tree", main + "/sub/deep", tree + "/sub"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{tree + "/.git": "gitdir: ../main/.git/worktrees/tree\n", main + "/.git/worktrees/tree/commondir": "../..\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(main, link); err != nil {
		t.Fatal(err)
	}
	a := newAgentTurns(t, new(runnertest.Scripted))
	a.Deps.Backends = backends.New()
	a.Deps.Environ = []string{"HOME=/home/ann", "CODEX_HOME=/srv/codex"}
	for _, test := range []struct {
		name, project, dir string
		env                map[string]string
		editable           []string
		unread, unwritten  []string
		open               []string // may be read and changed
	}{
		{
			name: "plain", project: main, dir: main,
			unread: []string{
				a.home.Dir() + "/tokens", "/home/ann/.claude/projects/-x/memory/MEMORY.md", "/home/ann/.claude/agent-memory/a/MEMORY.md", main + "/.claude/agent-memory-local/a/MEMORY.md",
				"/srv/codex/memories/x", "/home/ann/.gemini/GEMINI.md",
			},
			unwritten: []string{
				main + "/claude-swarm.yaml", main + "/.dead-drop/a/new/x.md", main + "/.dead-drop/HALT", main + "/.dead-drop/topics/new/x.md", main + "/.dead-drop/a/FULL",
				main + "/.git/config", main + "/a/b/.git/hooks/x", main + "/.claude/settings.local.json", main + "/.mcp.json", main + "/.claude/skills/x/SKILL.md",
				"/home/ann/.claude.json", "/home/ann/.claude/settings.json", "/home/ann/.claude/projects/-x/1.jsonl", "/srv/codex/config.toml", "/home/ann/.config/opencode/opencode.json", main + "/opencode.json",
			},
			open: []string{
				main + "/a.go", main + "/.gitignore", main + "/.github/workflows/x.yml", main + "/.dead-drop/a/x.md", main + "/.dead-drop/a/work/x", main + "/.dead-drop/board/status.md", main + "/CLAUDE.md",
				"/home/ann/.claude/plans/x.md", "/home/ann/.codex/config.toml", main + "/.claude/worktrees/x/a.go",
			},
		},
		{
			name: "another folder of settings", project: main, dir: main, env: map[string]string{"CLAUDE_CONFIG_DIR": "/etc/claude"},
			unread: []string{"/etc/claude/projects/-x/memory/MEMORY.md"}, unwritten: []string{"/etc/claude/settings.json", "/home/ann/.claude.json"}, open: []string{"/home/ann/.claude/settings.json"},
		},
		{
			name: "a folder in the project", project: main, dir: main + "/sub/deep",
			unwritten: []string{main + "/.mcp.json", main + "/sub/.mcp.json", main + "/sub/deep/.claude/settings.json"}, open: []string{main + "/other/.mcp.json"},
		},
		{
			name: "a linked worktree elsewhere", project: link, dir: tree + "/sub",
			unwritten: []string{main + "/claude-swarm.yaml", tree + "/sub/.mcp.json", main + "/.git/config"}, open: []string{tree + "/sub/a.go"},
		},
		{
			name: "a project that is a worktree", project: tree, dir: tree,
			unwritten: []string{tree + "/.git", main + "/.git/hooks/pre-commit", main + "/.git/worktrees/tree/HEAD"}, open: []string{tree + "/a.go", main + "/a.go"},
		},
		{
			name: "what the project allows", project: main, dir: main + "/sub", editable: []string{".mcp.json", ".git"},
			unwritten: []string{main + "/claude-swarm.yaml", main + "/.claude/settings.json"}, open: []string{main + "/.mcp.json", main + "/sub/.mcp.json", main + "/.git/config"},
		},
	} {
		a.Deps.Project, a.Deps.Mailboxes, a.Deps.Config = test.project, filepath.Join(test.project, ".dead-drop"), filepath.Join(test.project, "claude-swarm.yaml")
		s := a.settings
		s.Client.Dir, s.Env, s.Editable = test.dir, test.env, test.editable
		p := a.Protected(s)
		for _, file := range test.unread {
			if !inAny(p.Unread, file) {
				t.Errorf("%s: %s can be read", test.name, file)
			}
		}
		for _, file := range test.unwritten {
			if !inAny(p.Unwritten, file) {
				t.Errorf("%s: %s can be changed", test.name, file)
			}
		}
		for _, file := range test.open {
			if inAny(p.Unread, file) || inAny(p.Unwritten, file) {
				t.Errorf("%s: %s is protected", test.name, file)
			}
		}
	}
}
