package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// A project is a temporary git repository with one commit.
type project struct {
	*testing.T
	dir     string
	environ []string
}

func newProject(t *testing.T) *project {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{T: t, dir: filepath.Join(base, "shop"), environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=Per Son", "GIT_AUTHOR_EMAIL=per@example.org", "GIT_COMMITTER_NAME=Per Son", "GIT_COMMITTER_EMAIL=per@example.org"}}
	if err := os.MkdirAll(filepath.Join(p.dir, ".claude-swarm"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q", "-b", "main")
	p.git("config", "user.name", "Per Son")
	p.git("config", "user.email", "per@example.org")
	p.write("main.go", "package main\n")
	p.write(".gitignore", ".env\n.claude-swarm/\n")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "begin")
	return p
}

func (p *project) gitIn(dir string, args ...string) string {
	p.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, p.environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// fails runs a git command that must fail.
func (p *project) fails(dir string, args ...string) {
	p.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, p.environ
	if out, err := cmd.CombinedOutput(); err == nil {
		p.Fatalf("git %v worked\n%s", args, out)
	}
}

func (p *project) git(args ...string) string { p.Helper(); return p.gitIn(p.dir, args...) }

func (p *project) write(name, text string) {
	p.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.Fatal(err)
	}
}

func (p *project) open() *worktree.Trees {
	p.Helper()
	t, err := worktree.Open(durable.Files{}, filepath.Join(p.dir, ".claude-swarm/worktrees.json"), p.dir, p.environ)
	if err != nil {
		p.Fatal(err)
	}
	return t
}

func (p *project) make(t *worktree.Trees, r worktree.Request) worktree.Tree {
	p.Helper()
	tree, err := t.Make(p.Context(), r)
	if err != nil {
		p.Fatal(err)
	}
	return tree
}

// A tree is made once, is used again, keeps what is not committed, and is removed when
// everything is; then it can be made again with its branch.
func TestATreeFromBeginningToEnd(t *testing.T) {
	p := newProject(t)
	p.write(".env", "KEY=1\n")
	trees := p.open()
	r := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd", Settings: worktree.Settings{Mode: worktree.PerTask, Copy: []string{".env"}}}
	tree := p.make(trees, r)
	if tree.Dir != ".worktrees/agent-task-k7f3q9m2xd" || tree.Branch != "task/k7f3q9m2xd" || tree.Target != "main" || tree.Base != p.git("rev-parse", "HEAD") {
		t.Errorf("the tree is %+v", tree)
	}
	if again := p.make(p.open(), r); again != tree {
		t.Errorf("the second time it is %+v, want %+v", again, tree)
	}
	dir := trees.Path(tree)
	if data, err := os.ReadFile(filepath.Join(dir, ".env")); err != nil || string(data) != "KEY=1\n" {
		t.Errorf(".env was not copied: %q, %v", data, err)
	}
	if status := p.git("status", "--porcelain"); status != "" {
		t.Errorf("the project's status shows %q", status)
	}
	p.write(tree.Dir+"/new.go", "package main\n")
	if kept, err := trees.Remove(t.Context(), tree); err != nil || !strings.Contains(kept, "new.go") {
		t.Errorf("a folder with a new file: kept %q, %v", kept, err)
	}
	p.gitIn(dir, "add", ".")
	p.gitIn(dir, "commit", "-q", "-m", "new")
	tip := p.gitIn(dir, "rev-parse", "HEAD")
	if kept, err := trees.Remove(t.Context(), tree); err != nil || kept != "" {
		t.Fatalf("a clean folder: kept %q, %v", kept, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder is still there: %v", err)
	}
	if got := p.git("rev-parse", tree.Branch); got != tip {
		t.Errorf("the branch is at %s, want %s", got, tip)
	}
	second := p.make(p.open(), r)
	if second.Base != tree.Base || p.gitIn(dir, "rev-parse", "HEAD") != tip {
		t.Errorf("made again, the tree is %+v", second)
	}
	other := p.make(trees, worktree.Request{Agent: "reviewer", Task: "k7f3q9m2xd", From: tip, Settings: r.Settings})
	if other.Branch != "task/k7f3q9m2xd-reviewer" || other.Base != tip {
		t.Errorf("the second agent's tree is %+v", other)
	}
}

// A branch on which nothing was committed goes with its folder. One that somebody moved meanwhile
// stays.
func TestABranchWithoutACommitGoes(t *testing.T) {
	p := newProject(t)
	trees := p.open()
	r := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"}
	tree := p.make(trees, r)
	if kept, err := trees.Remove(t.Context(), tree); err != nil || kept != "" {
		t.Fatalf("kept %q, %v", kept, err)
	}
	if branches := p.git("branch", "--list", "task/*"); branches != "" || len(trees.List()) != 0 {
		t.Errorf("the branches are %q, the trees %v", branches, trees.List())
	}
	p.git("commit", "-q", "--allow-empty", "-m", "a person's work")
	tree = p.make(trees, r)
	if tree.Base != p.git("rev-parse", "main") {
		t.Errorf("made again, the tree begins at %s", tree.Base)
	}
	worktree.CutAt(trees, func(step string) error {
		if step == "before git update-ref -d" {
			p.git("branch", "-f", tree.Branch, "main~1")
		}
		return nil
	})
	if _, err := trees.Remove(t.Context(), tree); err == nil {
		t.Error("a branch that was moved meanwhile was removed")
	}
	if got := p.git("rev-parse", tree.Branch); got != p.git("rev-parse", "main~1") {
		t.Errorf("the branch is at %s", got)
	}
	if err := p.open().Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
	if got, _ := p.open().Of("coder", "k7f3q9m2xd"); got.State != worktree.Removed {
		t.Errorf("then the tree is %q", got.State)
	}
}
