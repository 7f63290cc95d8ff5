package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// Repositories for which git makes no complete tree are refused, and nothing is left there.
func TestRefused(t *testing.T) {
	task := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"}
	for name, c := range map[string]struct {
		arrange func(*project)
		request worktree.Request
		why     string
	}{
		"a submodule": {func(p *project) {
			p.git("update-index", "--add", "--cacheinfo", "160000,"+p.git("rev-parse", "HEAD")+",lib")
			p.git("commit", "-q", "-m", "lib")
		}, task, "lib is a submodule"},
		"a sparse checkout": {func(p *project) { p.git("sparse-checkout", "set", "src") }, task, "sparse checkout"},
		"a filter": {func(p *project) {
			p.git("config", "filter.lfs.clean", "cat")
			p.write(".gitattributes", "*.bin filter=lfs diff=lfs -text\n")
			p.git("add", ".")
			p.git("commit", "-q", "-m", "lfs")
		}, task, "*.bin goes through the git filter lfs"},
		"a filter of this clone": {func(p *project) {
			p.git("config", "filter.crypt.smudge", "cat")
			p.write(".git/info/attributes", "*.key filter=crypt\n")
		}, task, "*.key goes through the git filter crypt"},
		"a bare repository": {func(p *project) {
			p.git("clone", "-q", "--bare", ".", p.dir+".git")
			p.dir += ".git"
		}, task, "bare"},
		"a branch that exists": {func(p *project) { p.git("branch", "agent/coder") }, worktree.Request{Agent: "coder"}, "the branch agent/coder exists"},
		"both branches of a task exist": {func(p *project) {
			p.git("branch", "task/k7f3q9m2xd")
			p.git("branch", "task/k7f3q9m2xd-coder")
		}, task, "the branch task/k7f3q9m2xd-coder exists"},
		"a branch in the way":   {func(p *project) { p.git("branch", "task") }, task, "beside the branch task"},
		"a folder that exists":  {func(p *project) { p.write(".worktrees/coder/x", "") }, worktree.Request{Agent: "coder"}, ".worktrees/coder exists"},
		"a task that is a path": {func(*project) {}, worktree.Request{Agent: "coder", Task: "../x"}, "cannot be part of a path"},
		"cwd elsewhere":         {func(*project) {}, worktree.Request{Agent: "coder", Cwd: "/"}, "not in the project's repository"},
		"cwd in another repository": {func(p *project) {
			p.write("lib/x", "")
			p.gitIn(filepath.Join(p.dir, "lib"), "init", "-q")
		}, worktree.Request{Agent: "coder", Cwd: "lib"}, "not in the project's repository"},
		"no commit": {func(p *project) { p.git("checkout", "-q", "--orphan", "new") }, task, "no commit"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			c.arrange(p)
			if c.request.Cwd == "lib" {
				c.request.Cwd = filepath.Join(p.dir, "lib")
			}
			before := p.git("for-each-ref")
			trees, err := worktree.Open(durable.Files{}, filepath.Join(t.TempDir(), "worktrees.json"), p.dir, p.environ)
			if err != nil {
				t.Fatal(err)
			}
			_, err = trees.Make(t.Context(), c.request)
			refused, ok := errors.AsType[*worktree.RefusedError](err)
			if !ok || !strings.Contains(refused.Why, c.why) || refused.Next == "" {
				t.Errorf("Make returned %v, want %q", err, c.why)
			}
			if after := p.git("for-each-ref"); after != before || len(trees.List()) > 0 {
				t.Errorf("left behind: %v\n%s", trees.List(), after)
			}
		})
	}
}

// Not refused: a detached HEAD, filters without a file, and filters that are not configured.
func TestNotRefused(t *testing.T) {
	p := newProject(t)
	p.write(".gitattributes", "# *.txt filter=lfs\n*.bin filter=other\n")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "attributes")
	p.git("config", "filter.lfs.clean", "cat")
	p.git("checkout", "-q", "--detach")
	tree := p.make(p.open(), worktree.Request{Agent: "coder", Cwd: filepath.Join(p.dir, "docs", "empty")})
	if tree.Target != "" {
		t.Errorf("the target is %q", tree.Target)
	}
	if _, err := os.Stat(filepath.Join(p.dir, tree.Dir, "docs/empty")); err != nil {
		t.Error(err)
	}
}

// Two projects in one repository have agents with the same name, and work on the same task.
func TestTwoProjectsInOneRepository(t *testing.T) {
	p := newProject(t)
	base := p.dir
	branches := map[string]bool{}
	for n, dir := range []string{base, filepath.Join(base, "a/b"), filepath.Join(base, "c"), filepath.Join(base, ".ü b/x..y~^:[@{")} {
		p.dir = dir
		if err := os.MkdirAll(filepath.Join(dir, ".claude-swarm"), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, task := range []string{"", "k7f3q9m2xd"} {
			agent := fmt.Sprint("coder", n) // the agents of a task differ
			if task == "" {
				agent = "coder"
			}
			trees := p.open()
			tree := p.make(trees, worktree.Request{Agent: agent, Task: task})
			if branches[tree.Branch] {
				t.Errorf("%s has the branch %s of another project", dir, tree.Branch)
			}
			branches[tree.Branch] = true
			if got := trees.WorkDir(tree, dir); got != filepath.Join(dir, tree.Dir, dir[len(base):]) {
				t.Errorf("the agent works in %s", got)
			}
		}
	}
	if status := p.gitIn(base, "status", "--porcelain"); status != "" {
		t.Errorf("the repository's status shows %q", status)
	}
}

// A branch that a person has checked out elsewhere is busy until it is free.
func TestABusyBranch(t *testing.T) {
	p := newProject(t)
	trees := p.open()
	r := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"}
	tree := p.make(trees, r)
	p.gitIn(trees.Path(tree), "commit", "-q", "--allow-empty", "-m", "work")
	if _, err := trees.Remove(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	busy := func(what, next string) {
		t.Helper()
		_, err := trees.Make(t.Context(), r)
		if e, ok := errors.AsType[*worktree.BusyError](err); !ok || !strings.Contains(e.Next, next) {
			t.Errorf("%s: Make returned %v", what, err)
		}
	}
	p.git("switch", "-q", tree.Branch)
	busy("checked out in the project", "switch --detach")
	p.git("switch", "-q", "main")
	p.make(trees, r)
	moved := filepath.Join(t.TempDir(), "moved")
	p.git("worktree", "move", tree.Dir, moved)
	busy("moved", moved)
	p.git("worktree", "remove", moved)
	p.make(trees, r)
	p.git("worktree", "lock", tree.Dir)
	if err := os.RemoveAll(trees.Path(tree)); err != nil {
		t.Fatal(err)
	}
	busy("locked and gone", "git worktree unlock")
	p.git("worktree", "unlock", tree.Dir)
	p.make(trees, r)
}
