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

// A BusyError says who uses an agent's branch or working tree now, and what a person can do. Once
// it is free, the agent gets it.
type BusyError struct{ Why, Next string }

func (e *BusyError) Error() string { return e.Why }

// Trees makes and removes the working trees of one project. It keeps no files or processes open.
// It is safe for concurrent use; git runs once at a time.
type Trees struct {
	project string
	environ []string
	files   durable.Files
	doc     *durable.Doc[ledgerFile]

	mu   sync.Mutex
	repo *git.Repo               // nil until the first use
	top  string                  // the folder of the repository's working tree
	cut  func(step string) error // for tests: called before and after each step; an error ends it
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
	return &Trees{project: project, environ: environ, files: files, doc: doc}, err
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
	Agent   string
	Task    string // the trace; "" for the tree of all tasks
	Message string // the ID of the message
	From    string // the commit at which a new branch begins, if the repository has it; "" means the project's HEAD
	// Cwd is the folder of the project, as an absolute path, whose counterpart in the tree the
	// agent works in; "" means the project.
	Cwd string
	Settings
}

// Make returns the tree that a request asks for, and makes it first if needed. The error is a
// [*RefusedError], a [*BusyError], or one from git or the disk. After an error, the next call
// begins again where this one ended.
func (t *Trees) Make(ctx context.Context, r Request) (Tree, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.find(ctx); err != nil {
		return Tree{}, err
	}
	if err := t.checkCwd(ctx, r.Cwd); err != nil {
		return Tree{}, err
	}
	tree, known := t.Of(r.Agent, r.Task)
	if known && tree.State != Ready {
		if err := t.finish(ctx, tree); err != nil {
			return Tree{}, err
		}
		tree, known = t.Of(r.Agent, r.Task)
	}
	switch {
	case known && tree.State == Ready && exists(t.Path(tree)):
		return t.reuse(tree, r)
	case known && tree.State == Ready: // somebody else removed or moved the folder
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
	tree.Message = r.Message
	made, err := t.add(ctx, tree, r)
	if err != nil && ctx.Err() == nil {
		// Nothing half done stays. If the disk refuses this, too, the ledger has what to finish.
		if tree, known := t.Of(r.Agent, r.Task); known && tree.State == Making {
			_ = t.finish(ctx, tree)
		}
	}
	return made, err
}

// reuse returns a tree that is ready for a further message.
func (t *Trees) reuse(tree Tree, r Request) (Tree, error) {
	if !exists(tree.Admin) {
		return Tree{}, &RefusedError{
			fmt.Sprintf("worktree: git no longer knows that %s is a worktree", tree.Dir),
			fmt.Sprintf("move %s away; its branch is %s", tree.Dir, tree.Branch),
		}
	}
	if tree.Message == r.Message {
		return tree, nil
	}
	tree.Message = r.Message
	return tree, t.record(tree)
}

// Settled notes that the message for which a tree was last used needs the tree no longer.
func (t *Trees) Settled(tree Tree) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	tree, ok := t.Of(tree.Agent, tree.Task)
	if !ok || tree.Message == "" {
		return nil
	}
	tree.Message = ""
	return t.record(tree)
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
	if err := t.check(ctx, tree.Base); err != nil {
		return Tree{}, err
	}
	if out, err := t.run(ctx, "symbolic-ref", "-q", "--short", "HEAD"); err == nil {
		tree.Target = strings.TrimSpace(string(out))
	} else if !git.Exited(err, 1) {
		return Tree{}, err
	}
	return tree, t.name(ctx, &tree)
}

// name chooses the folder and the branch of a new tree.
func (t *Trees) name(ctx context.Context, tree *Tree) error {
	taken := slices.ContainsFunc(t.List(), func(o Tree) bool { return tree.Task != "" && o.Task == tree.Task })
	for _, again := range []bool{taken, true} {
		tree.Dir, tree.Branch = namesOf(t.repo.Prefix, tree.Agent, tree.Task, again)
		tip, err := t.commit(ctx, "refs/heads/"+tree.Branch)
		if err != nil {
			return err
		}
		if tip == "" && !exists(t.Path(*tree)) {
			break
		}
		if tree.Task == "" || again {
			if exists(t.Path(*tree)) {
				return t.inTheWay(*tree)
			}
			return &RefusedError{
				fmt.Sprintf("worktree: the branch %s exists, and claude-swarm did not make it", tree.Branch),
				fmt.Sprintf("git branch -m %s OTHER", tree.Branch),
			}
		}
	}
	first, _, _ := strings.Cut(tree.Branch, "/")
	if tip, err := t.commit(ctx, "refs/heads/"+first); err != nil {
		return err
	} else if tip != "" {
		return &RefusedError{fmt.Sprintf("worktree: git cannot have the branch %s beside the branch %s", tree.Branch, first), fmt.Sprintf("git branch -m %s OTHER", first)}
	}
	return nil
}

func (t *Trees) inTheWay(tree Tree) error {
	return &RefusedError{tree.Dir + " exists, and claude-swarm did not make it", "move it away: git worktree list shows whether it is a worktree"}
}

// add makes the folder of a tree. The caller holds the mutex.
func (t *Trees) add(ctx context.Context, tree Tree, r Request) (Tree, error) {
	if exists(t.Path(tree)) {
		return Tree{}, t.inTheWay(tree)
	}
	if err := t.free(ctx, tree); err != nil {
		return Tree{}, err
	}
	if err := t.exclude(ctx); err != nil {
		return Tree{}, err
	}
	tip, err := t.commit(ctx, "refs/heads/"+tree.Branch)
	if err != nil {
		return Tree{}, err
	}
	if tip == "" { // the tree is new, or a person deleted the branch
		if base, err := t.commit(ctx, tree.Base); err != nil {
			return Tree{}, err
		} else if base == "" { // the repository no longer has the commit
			if tree.Base, err = t.commit(ctx, "HEAD"); err != nil {
				return Tree{}, err
			}
		}
	}
	tree.State = Making
	if err := t.record(tree); err != nil {
		return Tree{}, err
	}
	// Git would write the files with filters that the new tree's configuration names.
	args := []string{"worktree", "add", "--quiet", "--no-checkout", t.Path(tree), tree.Branch}
	if tip == "" {
		args = []string{"worktree", "add", "--quiet", "--no-checkout", "--no-track", "-b", tree.Branch, t.Path(tree), tree.Base}
	}
	if _, err := t.run(ctx, args...); err != nil {
		return Tree{}, err
	}
	out, err := t.repo.RunIn(ctx, t.Path(tree), "rev-parse", "--absolute-git-dir")
	if err != nil {
		return Tree{}, err
	}
	tree.Admin = strings.TrimSuffix(string(out), "\n")
	if _, err := t.inTree(ctx, tree, nil, "read-tree", "--reset", "-u", "HEAD"); err != nil {
		return Tree{}, err
	}
	if err := t.provide(tree, r); err != nil {
		return Tree{}, err
	}
	if err := t.label(tree); err != nil {
		return Tree{}, err
	}
	tree.State = Ready
	return tree, t.record(tree)
}

// run runs a git command that needs no working tree.
func (t *Trees) run(ctx context.Context, args ...string) (out []byte, err error) {
	err = t.step("git "+args[0]+" "+args[1], func() error { out, err = t.repo.Run(ctx, args...); return err })
	return out, err
}

// inTree runs a git command in a tree, with further variables.
func (t *Trees) inTree(ctx context.Context, tree Tree, env []string, args ...string) (out []byte, err error) {
	err = t.step("git "+args[0], func() error { out, err = t.repo.RunTreeEnv(ctx, tree.Admin, t.Path(tree), env, args...); return err })
	return out, err
}

// step does a step that a crash can interrupt.
func (t *Trees) step(name string, do func() error) error {
	if t.cut != nil {
		if err := t.cut("before " + name); err != nil {
			return err
		}
	}
	err := do()
	if t.cut != nil {
		if err := t.cut("after " + name); err != nil {
			return err
		}
	}
	return err
}

// commit returns the commit that a name stands for, or "" if there is no such commit.
func (t *Trees) commit(ctx context.Context, name string) (string, error) {
	commit, err := t.repo.Commit(ctx, name)
	if errors.Is(err, git.ErrNoCommit) {
		return "", nil
	}
	return commit, err
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

// forget removes a tree from the ledger.
func (t *Trees) forget(tree Tree) error {
	return t.doc.Change(func(f *ledgerFile) bool {
		_, known := f.Of[tree.Dir]
		delete(f.Of, tree.Dir)
		return known
	})
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
