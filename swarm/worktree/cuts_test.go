package worktree_test

import (
	"errors"

	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// A cutter ends the daemon before a step: this step and all later ones fail.
type cutter struct {
	before, steps int
	name          string // the step at which it ended
}

func (c *cutter) at(step string) error {
	c.steps++
	if c.steps <= c.before {
		return nil
	}
	if c.name == "" {
		c.name = step
	}
	return durabletest.ErrCut
}

func (c *cutter) open(p *project) *worktree.Trees {
	p.Helper()
	files := durable.Files{Step: func(s durable.Step) error { return c.at(string(s.Op) + " " + filepath.Base(s.Path)) }}
	t, err := worktree.Open(files, filepath.Join(p.dir, ".claude-swarm/worktrees.json"), p.dir, p.environ)
	if err != nil {
		p.Fatal(err)
	}
	worktree.CutAt(t, c.at)
	return t
}

// state describes what a person sees of the trees.
func (p *project) state(tree worktree.Tree) string {
	p.Helper()
	dir := filepath.Join(p.dir, tree.Dir)
	s := "worktrees:\n" + p.git("worktree", "list", "--porcelain") + "\nsubjects:\n" + p.git("log", "--format=%s", tree.Branch) + "\ncontent: " + p.git("rev-parse", tree.Branch+"^{tree}") +
		"\nperson: " + p.git("status", "--porcelain", "--branch") + p.git("stash", "list")
	if _, err := os.Stat(dir); err == nil {
		s += "\nstatus: " + p.gitIn(dir, "status", "--porcelain")
	}
	s = replaceHeads(s)
	for _, pattern := range []string{".git/*.lock", ".git/refs/heads/*/*.lock", ".git/worktrees/*/*.lock", ".git/worktrees/*/incomplete*", ".worktrees/*"} {
		left, err := filepath.Glob(filepath.Join(p.dir, pattern))
		if err != nil {
			p.Fatal(err)
		}
		for _, path := range left {
			s += "\n" + pattern + ": " + filepath.Base(path)
		}
	}
	return s
}

// Wherever the daemon ends, a later one reaches the same end: nothing is lost, made twice, or left.
func TestCuts(t *testing.T) {
	r := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd", Message: "k7f3q9m2xd", Settings: worktree.Settings{Copy: []string{".env"}}}
	for name, c := range map[string]struct {
		arrange func(*project, worktree.Tree)
		do      func(*project, *worktree.Trees) error
	}{
		"make": {nil, func(p *project, trees *worktree.Trees) error {
			_, err := trees.Make(t.Context(), r)
			return err
		}},
		"make again": {func(p *project, tree worktree.Tree) {
			p.gitIn(filepath.Join(p.dir, tree.Dir), "commit", "-q", "--allow-empty", "-m", "work")
			if _, err := p.open().Remove(t.Context(), tree); err != nil {
				t.Fatal(err)
			}
		}, func(p *project, trees *worktree.Trees) error {
			_, err := trees.Make(t.Context(), r)
			return err
		}},
		"remove": {func(p *project, tree worktree.Tree) {
			p.write(tree.Dir+"/sub/new.go", "package main\n")
			p.gitIn(filepath.Join(p.dir, tree.Dir), "add", ".")
			p.gitIn(filepath.Join(p.dir, tree.Dir), "commit", "-q", "-m", "work")
		}, func(p *project, trees *worktree.Trees) error {
			tree, _ := trees.Of("coder", r.Task)
			if tree.State != worktree.Ready {
				return nil
			}
			_, err := trees.Remove(t.Context(), tree)
			return err
		}},
		"incomplete": {func(p *project, tree worktree.Tree) {
			p.write(tree.Dir+"/main.go", "package other\n")
			p.write(tree.Dir+"/new.go", "package main\n")
		}, func(p *project, trees *worktree.Trees) error {
			tree, _ := trees.Of("coder", r.Task)
			_, _, err := trees.Incomplete(t.Context(), tree, "work")
			return err
		}},
		"list": {nil, func(p *project, trees *worktree.Trees) error {
			undo, err := trees.Listed(t.Context(), filepath.Join(p.dir, ".worktrees/agent-task-gone/sub"))
			undo()
			if _, err := trees.Make(t.Context(), r); err != nil {
				return err
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(cut *cutter) string {
				p := newProject(t)
				p.write(".env", "KEY=1\n")
				var tree worktree.Tree
				if c.arrange != nil {
					tree = p.make(p.open(), r)
					c.arrange(p, tree)
				}
				err := c.do(p, cut.open(p))
				if cut.name != "" && err != nil && !errors.Is(err, durabletest.ErrCut) {
					t.Errorf("cut at %s: %v", cut.name, err)
				} else if cut.name == "" && err != nil {
					t.Fatal(err)
				}
				later := p.open()
				if err := later.Reconcile(t.Context()); err != nil {
					t.Errorf("cut at %s: reconcile: %v", cut.name, err)
				}
				for _, tree := range later.List() {
					if tree.State != worktree.Ready && tree.State != worktree.Removed {
						t.Errorf("cut at %s: the tree is %s", cut.name, tree.State)
					}
				}
				if err := c.do(p, later); err != nil {
					t.Errorf("cut at %s: again: %v", cut.name, err)
				}
				tree, _ = later.Of("coder", r.Task)
				return p.state(tree)
			}
			whole := &cutter{before: 1 << 30}
			want := run(whole)
			t.Logf("%d steps", whole.steps)
			for n := range whole.steps {
				cut := &cutter{before: n}
				if got := run(cut); got != want {
					t.Errorf("cut at %s:\n%s\nwithout the cut:\n%s", cut.name, got, want)
				}
			}
		})
	}
}

// An interrupted git worktree remove has deleted a part of the files.
func TestAHalfRemovedFolder(t *testing.T) {
	for _, gone := range [][]string{{"main.go"}, {".git"}, {".git", "main.go", ".gitignore"}} {
		p := newProject(t)
		trees := p.open()
		tree := p.make(trees, worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"})
		p.gitIn(trees.Path(tree), "commit", "-q", "--allow-empty", "-m", "work")
		worktree.CutAt(trees, func(step string) error {
			if step != "before git worktree remove" {
				return nil
			}
			for _, name := range gone {
				if err := os.Remove(filepath.Join(p.dir, tree.Dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			return durabletest.ErrCut
		})
		if _, err := trees.Remove(t.Context(), tree); !errors.Is(err, durabletest.ErrCut) {
			t.Fatal(err)
		}
		later := p.open()
		if err := later.Reconcile(t.Context()); err != nil {
			t.Error(err)
		}
		if got, _ := later.Of("coder", "k7f3q9m2xd"); got.State != worktree.Removed {
			t.Errorf("without %v the tree is %s", gone, got.State)
		}
	}
}

// A lost ledger is made again from git.
func TestTheLedgerIsLost(t *testing.T) {
	p := newProject(t)
	trees := p.open()
	r := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"}
	tree := p.make(trees, r)
	other := p.make(trees, worktree.Request{Agent: "reviewer", Task: "k7f3q9m2xd"})
	p.git("worktree", "add", "-q", "-b", "mine", ".worktrees/mine")
	if err := os.Remove(filepath.Join(p.dir, ".claude-swarm/worktrees.json")); err != nil {
		t.Fatal(err)
	}
	later := p.open()
	if err := later.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
	if got := later.List(); len(got) != 2 || got[0] != tree || got[1] != other {
		t.Errorf("the ledger has %+v", got)
	}
}

// A folder that a person removed, a branch that a person deleted, and a branch whose first commit
// is gone are made again.
func TestAPersonRemovedIt(t *testing.T) {
	p := newProject(t)
	trees := p.open()
	r := worktree.Request{Agent: "coder", Task: "k7f3q9m2xd"}
	tree := p.make(trees, r)
	p.gitIn(trees.Path(tree), "commit", "-q", "--allow-empty", "-m", "work")
	if err := os.RemoveAll(trees.Path(tree)); err != nil {
		t.Fatal(err)
	}
	later := p.open()
	if err := later.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
	p.make(later, r)
	if got := p.git("log", "-1", "--format=%s", tree.Branch); got != "work" {
		t.Errorf("the branch is at %q", got)
	}
	if _, err := later.Remove(t.Context(), tree); err != nil {
		t.Error(err)
	}
	p.git("branch", "-q", "-D", tree.Branch)
	if again := p.make(later, r); again.Base != tree.Base || p.git("rev-parse", tree.Branch) != tree.Base {
		t.Errorf("made again: %+v", again)
	}
}

// replaceHeads hides the object names in the lines HEAD of git worktree list: a commit that the
// daemon makes depends on the time.
func replaceHeads(s string) string {
	return regexp.MustCompile(`(?m)^(HEAD|worktree) .*`).ReplaceAllString(s, "$1")
}
