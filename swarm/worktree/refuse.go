package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

const orNone = ", or set worktree: none"

// find finds the repository. The caller holds the mutex.
func (t *Trees) find(ctx context.Context) error {
	if t.repo != nil {
		return nil
	}
	repo, err := git.Find(ctx, "", t.environ, t.project)
	switch {
	case errors.Is(err, git.ErrNoGit):
		return &RefusedError{"worktree: git is not installed", "install git" + orNone}
	case errors.Is(err, git.ErrBare):
		return &RefusedError{"worktree: the repository of the project is bare", "git config core.bare false" + orNone}
	case errors.Is(err, git.ErrNoRepository):
		return &RefusedError{"worktree: the project is not in a git repository", "git init and git commit" + orNone}
	case err != nil:
		return err
	}
	t.repo = repo
	t.top = filepath.Clean(strings.TrimSuffix(t.project+"/", repo.Prefix))
	return nil
}

// checkCwd refuses a folder that has no counterpart in the trees.
func (t *Trees) checkCwd(ctx context.Context, cwd string) error {
	if cwd == "" || cwd == t.project {
		return nil
	}
	refused := &RefusedError{fmt.Sprintf("worktree: cwd %s is not in the project's repository, %s", cwd, t.top), "another cwd" + orNone}
	if cwd != t.top && !strings.HasPrefix(cwd, t.top+"/") {
		return refused
	}
	if !exists(cwd) {
		return nil // the turn says so
	}
	repo, err := git.Find(ctx, "", t.environ, cwd)
	switch {
	case errors.Is(err, git.ErrNoRepository):
		return refused
	case err != nil:
		return err
	case repo.GitDir != t.repo.GitDir:
		return refused
	}
	return nil
}

// check refuses a commit whose files git cannot write into a new tree without running other
// programs or without further settings.
func (t *Trees) check(ctx context.Context, commit string) error {
	if out, err := t.run(ctx, "config", "--type=bool", "core.sparseCheckout"); err == nil && strings.TrimSpace(string(out)) == "true" {
		return &RefusedError{"worktree: the repository is a sparse checkout, and a new worktree would have other files", "git sparse-checkout disable" + orNone}
	} else if err != nil && !git.Exited(err, 1) {
		return err
	}
	out, err := t.run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return err
	}
	var attributes []string
	for line := range strings.SplitSeq(string(out), "\x00") {
		kind, path, _ := strings.Cut(line, "\t")
		if strings.HasPrefix(kind, "160000 ") {
			return &RefusedError{fmt.Sprintf("worktree: %s is a submodule, and a new worktree would not have its files", path), "set worktree: none"}
		}
		if fields := strings.Fields(kind); filepath.Base(path) == ".gitattributes" && len(fields) == 3 {
			attributes = append(attributes, fields[2])
		}
	}
	return t.checkFilters(ctx, attributes)
}

// checkFilters refuses a commit whose files go through a filter that the repository has, such as
// that of LFS: package git runs no filter. attributes are the objects of the files .gitattributes.
func (t *Trees) checkFilters(ctx context.Context, attributes []string) error {
	filters, err := t.repo.Filters(ctx)
	if err != nil || len(filters) == 0 {
		return err
	}
	var text []byte
	for _, object := range attributes {
		one, err := t.run(ctx, "cat-file", "-p", object)
		if err != nil {
			return err
		}
		text = append(append(text, '\n'), one...)
	}
	path, err := t.gitPath(ctx, "info/attributes")
	if err != nil {
		return err
	}
	if own, err := os.ReadFile(path); err == nil {
		text = append(append(text, '\n'), own...)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		for _, f := range fields {
			if name, ok := strings.CutPrefix(f, "filter="); ok && !strings.HasPrefix(fields[0], "#") && slices.Contains(filters, name) {
				return &RefusedError{
					fmt.Sprintf("worktree: %s goes through the git filter %s, and the daemon runs no filters", fields[0], name),
					"set worktree: none",
				}
			}
		}
	}
	return nil
}

// gitPath returns the path of a file that the repository's working trees share.
func (t *Trees) gitPath(ctx context.Context, name string) (string, error) {
	out, err := t.run(ctx, "rev-parse", "--git-path", name)
	path := strings.TrimSuffix(string(out), "\n")
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(t.repo.GitDir, path)
	}
	return path, err
}

// free returns a [*BusyError] if the branch of a tree is checked out in another folder.
func (t *Trees) free(ctx context.Context, tree Tree) error {
	all, err := t.listed(ctx)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.branch == tree.Branch && l.dir != t.Path(tree) {
			return &BusyError{
				fmt.Sprintf("the branch %s is checked out in %s", tree.Branch, l.dir),
				fmt.Sprintf("git -C %s switch --detach", l.dir),
			}
		}
		if l.dir == t.Path(tree) && l.locked {
			return &BusyError{fmt.Sprintf("the worktree %s is locked", tree.Dir), "git worktree unlock " + tree.Dir}
		}
	}
	return nil
}

// A listing is a line of git worktree list.
type listing struct {
	dir    string
	branch string // "" if none is checked out
	locked bool
}

func (t *Trees) listed(ctx context.Context) (all []listing, err error) {
	out, err := t.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		switch key, value, _ := strings.Cut(line, " "); key {
		case "worktree":
			all = append(all, listing{dir: value})
		case "branch":
			all[len(all)-1].branch = strings.TrimPrefix(value, "refs/heads/")
		case "locked":
			all[len(all)-1].locked = true
		}
	}
	return all, nil
}
