package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// Uncommitted work goes into one commit on the branch, without what git ignores; then the folder
// can go. The person's own tree has no part in it.
func TestIncomplete(t *testing.T) {
	p := newProject(t)
	trees := p.open()
	tree := p.make(trees, worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"})
	dir := trees.Path(tree)
	p.write(tree.Dir+"/main.go", "package other\n")
	p.write(tree.Dir+"/staged.go", "package main\n")
	p.gitIn(dir, "add", "staged.go")
	p.write(tree.Dir+"/sub/new *.go", "package main\n")
	p.write(tree.Dir+"/.env", "KEY=1\n")
	commit, kept, err := trees.Incomplete(t.Context(), tree, "Add a cart")
	if err != nil || kept != "" {
		t.Fatalf("kept %q, %v", kept, err)
	}
	if got := p.git("log", "-1", "--format=%H %s|%an|%cn", tree.Branch); got != commit+" [INCOMPLETE] Add a cart|coder|swarm" {
		t.Errorf("the branch is at %q", got)
	}
	if got := p.git("show", "--name-only", "--format=", tree.Branch); got != "main.go\nstaged.go\nsub/new *.go" {
		t.Errorf("the commit has %q", got)
	}
	if status := p.gitIn(dir, "status", "--porcelain"); status != "" {
		t.Errorf("status shows %q", status)
	}
	if again, kept, err := trees.Incomplete(t.Context(), tree, "Add a cart"); again != "" || kept != "" || err != nil {
		t.Errorf("again: %q, %q, %v", again, kept, err)
	}
	if kept, err := trees.Remove(t.Context(), tree); kept != "" || err != nil {
		t.Errorf("remove: %q, %v", kept, err)
	}
}

// An operation of git that has begun stays as it is, and so does a repository in the tree.
func TestNotToBeCommitted(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(p *project, dir string)
		why     string
	}{
		"a merge": {func(p *project, dir string) {
			p.write("main.go", "package person\n")
			p.git("commit", "-q", "-a", "-m", "person")
			p.write(".worktrees/coder/main.go", "package agent\n")
			p.gitIn(dir, "commit", "-q", "-a", "-m", "agent")
			p.fails(dir, "merge", "main")
		}, "a merge has begun"},
		"a rebase": {func(p *project, dir string) {
			p.write("main.go", "package person\n")
			p.git("commit", "-q", "-a", "-m", "person")
			p.write(".worktrees/coder/main.go", "package agent\n")
			p.gitIn(dir, "commit", "-q", "-a", "-m", "agent")
			p.fails(dir, "rebase", "main")
		}, "a rebase has begun"},
		"a lock":         {func(p *project, dir string) { p.write(".git/worktrees/coder/index.lock", "") }, "a git command is running"},
		"another branch": {func(p *project, dir string) { p.gitIn(dir, "switch", "-q", "-c", "mine") }, "the branch mine is checked out"},
		"no branch":      {func(p *project, dir string) { p.gitIn(dir, "switch", "-q", "--detach") }, "no branch is checked out"},
		"a repository": {func(p *project, dir string) {
			p.write(".worktrees/coder/lib/x", "")
			p.gitIn(filepath.Join(dir, "lib"), "init", "-q")
			p.gitIn(filepath.Join(dir, "lib"), "add", ".")
			p.gitIn(filepath.Join(dir, "lib"), "commit", "-q", "-m", "x")
		}, "a git repository is there: lib"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			trees := p.open()
			tree := p.make(trees, worktree.Request{Agent: "coder"})
			dir := trees.Path(tree)
			c.arrange(p, dir)
			p.write(tree.Dir+"/new.go", "package main\n")
			tip, index := p.git("rev-parse", tree.Branch), p.read(".git/worktrees/coder/index")
			if commit, kept, err := trees.Incomplete(t.Context(), tree, "x"); commit != "" || err != nil || !strings.Contains(kept, c.why) {
				t.Errorf("incomplete: %q, kept %q, %v, want %q", commit, kept, err, c.why)
			}
			if kept, err := trees.Remove(t.Context(), tree); err != nil || kept == "" {
				t.Errorf("remove: kept %q, %v", kept, err)
			}
			if p.git("rev-parse", tree.Branch) != tip || p.read(".git/worktrees/coder/index") != index {
				t.Error("the branch or the index has changed")
			}
			if left, err := filepath.Glob(filepath.Join(p.dir, ".git/worktrees/coder/incomplete*")); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func (p *project) read(name string) string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.Fatal(err)
	}
	return string(data)
}
