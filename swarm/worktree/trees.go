package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/git"
)

// A RefusedError says why an agent gets no working tree, and what a person can do. Trying again
// does not help.
type RefusedError struct{ Why, Next string }

func (e *RefusedError) Error() string { return e.Why }

// Trees makes and removes the working trees of one project. It keeps no files or processes open.
// It is safe for concurrent use; git runs once at a time.
type Trees struct {
	project string
	environ []string
	doc     *durable.Doc[ledgerFile]

	mu   sync.Mutex
	repo *git.Repo // nil until the first use
	top  string    // the folder of the repository's working tree
}

type ledgerFile struct {
	V  durable.Version1 `json:"v"`
	Of map[string]Tree  `json:"of"` // by Dir
}

// Open reads the ledger in the file at path. project is the absolute path of the project, and
// environ is git's environment. Git is not run before the first tree is made. If the error is a
// [*durable.DamagedError], the returned Trees know of no tree but are usable.
func Open(files durable.Files, path, project string, environ []string) (*Trees, error) {
	doc, err := durable.OpenDoc[ledgerFile](files, path, durable.DocOptions{
		Lost: "the bases of the working trees are unknown", Next: "claude-swarm start, which sets it aside",
	})
	if err != nil {
		err = fmt.Errorf("worktrees: %w", err)
	}
	return &Trees{project: project, environ: environ, doc: doc}, err
}

// Restore writes the ledger if its file is missing.
func (t *Trees) Restore() error { return t.doc.Restore() }

// List returns the trees of which the ledger knows, ordered by folder.
func (t *Trees) List() []Tree {
	all := t.doc.Get().Of
	trees := make([]Tree, 0, len(all))
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		trees = append(trees, all[dir])
	}
	return trees
}

// Of returns the tree of an agent for a task; task is "" for the tree of all tasks.
func (t *Trees) Of(agent, task string) (Tree, bool) {
	for _, tree := range t.doc.Get().Of {
		if tree.Agent == agent && tree.Task == task {
			return tree, true
		}
	}
	return Tree{}, false
}

// Path returns the absolute path of a tree's folder.
func (t *Trees) Path(tree Tree) string { return filepath.Join(t.project, filepath.FromSlash(tree.Dir)) }

// WorkDir returns the folder in a tree that corresponds to the folder dir of the project. The tree
// must have been made by these Trees.
func (t *Trees) WorkDir(tree Tree, dir string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return below(t.Path(tree), t.top, dir)
}

// A Request asks for a working tree.
type Request struct {
	Agent string
	Task  string // the trace; "" for the tree of all tasks
	From  string // the commit at which a new branch begins, if the repository has it; "" means the project's HEAD
	Settings
}

// Make returns the tree that a request asks for, and makes it first if needed. The error is a
// [*RefusedError], or one from git or the disk. After an error, the next call begins again where
// this one ended.
func (t *Trees) Make(ctx context.Context, r Request) (Tree, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.find(ctx); err != nil {
		return Tree{}, err
	}
	tree, known := t.Of(r.Agent, r.Task)
	if known && tree.State == Ready && exists(t.Path(tree)) {
		return tree, nil
	}
	if known {
		if err := t.finish(ctx, tree); err != nil {
			return Tree{}, err
		}
		tree, known = t.Of(r.Agent, r.Task)
	}
	if !known {
		var err error
		if tree, err = t.begin(ctx, r); err != nil {
			return Tree{}, err
		}
	}
	return t.add(ctx, tree, r)
}

// find finds the repository. The caller holds the mutex.
func (t *Trees) find(ctx context.Context) error {
	if t.repo != nil {
		return nil
	}
	repo, err := git.Find(ctx, "", t.environ, t.project)
	switch {
	case errors.Is(err, git.ErrNoGit):
		return &RefusedError{"worktree: git is not installed", "install git, or set worktree: none"}
	case errors.Is(err, git.ErrNoRepository):
		return &RefusedError{"worktree: the project is not in a git repository", "git init and git commit, or set worktree: none"}
	case err != nil:
		return err
	}
	t.repo = repo
	t.top = filepath.Clean(strings.TrimSuffix(t.project+"/", repo.Prefix))
	return nil
}

// begin plans a new tree. The caller holds the mutex.
func (t *Trees) begin(ctx context.Context, r Request) (Tree, error) {
	if r.Task != "" && !plain().MatchString(r.Task) {
		return Tree{}, &RefusedError{fmt.Sprintf("worktree: the task %q cannot be part of a path", r.Task), "claude-swarm send, to begin a new task"}
	}
	head, err := t.commit(ctx, "HEAD")
	if err != nil {
		return Tree{}, err
	} else if head == "" {
		return Tree{}, &RefusedError{"worktree: the repository has no commit yet", "git add . && git commit, or git commit --allow-empty -m begin"}
	}
	tree := Tree{Agent: r.Agent, Task: r.Task, Base: head, State: Making, Made: time.Now().UTC()}
	if r.From != "" {
		from, err := t.commit(ctx, r.From)
		if err != nil {
			return Tree{}, err
		} else if from != "" {
			tree.Base = from
		}
	}
	if out, err := t.repo.Run(ctx, "symbolic-ref", "-q", "--short", "HEAD"); err == nil {
		tree.Target = strings.TrimSpace(string(out))
	} else if !git.Exited(err, 1) {
		return Tree{}, err
	}
	again := slices.ContainsFunc(t.List(), func(o Tree) bool { return r.Task != "" && o.Task == r.Task })
	tree.Dir, tree.Branch = namesOf(r.Agent, r.Task, again)
	if exists(t.Path(tree)) {
		return Tree{}, &RefusedError{tree.Dir + " exists, and claude-swarm did not make it", "move it away: git worktree list shows whether it is a worktree"}
	}
	return tree, nil
}

// add makes the folder of a tree. The caller holds the mutex.
func (t *Trees) add(ctx context.Context, tree Tree, r Request) (Tree, error) {
	tree.State = Making
	if err := t.exclude(ctx); err != nil {
		return Tree{}, err
	}
	if err := t.record(tree); err != nil {
		return Tree{}, err
	}
	tip, err := t.commit(ctx, "refs/heads/"+tree.Branch)
	if err != nil {
		return Tree{}, err
	}
	args := []string{"worktree", "add", "--quiet", t.Path(tree), tree.Branch}
	if tip == "" {
		args = []string{"worktree", "add", "--quiet", "--no-track", "-b", tree.Branch, t.Path(tree), tree.Base}
	}
	if _, err := t.repo.Run(ctx, args...); err != nil {
		return Tree{}, err
	}
	out, err := t.repo.RunIn(ctx, t.Path(tree), "rev-parse", "--absolute-git-dir")
	if err != nil {
		return Tree{}, err
	}
	tree.Admin = strings.TrimSuffix(string(out), "\n")
	if err := t.provide(tree, r.Settings); err != nil {
		return Tree{}, err
	}
	tree.State = Ready
	return tree, t.record(tree)
}

// commit returns the commit that a name stands for, or "" if there is no such commit.
func (t *Trees) commit(ctx context.Context, name string) (string, error) {
	out, err := t.repo.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if git.Exited(err, 1) || git.Exited(err, 128) { // 128: the name is no object name at all
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// record writes a tree into the ledger.
func (t *Trees) record(tree Tree) error {
	return t.doc.Change(func(f *ledgerFile) bool {
		if f.Of[tree.Dir] == tree {
			return false
		}
		f.Of[tree.Dir] = tree
		return true
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
