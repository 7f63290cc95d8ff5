package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// A Look is what git says about a tree's folder.
type Look struct {
	Head   string // the commit that is checked out
	Branch string // the branch that is checked out; "" if none is
	// Changed and Untracked are paths in the tree: those with changes that are not committed, and
	// those that git neither has nor ignores.
	Changed, Untracked []string
	// Busy says which operation of git has begun in the tree and has not ended, or is "".
	Busy string
}

// Kept returns why the folder of a tree must stay, or "" if it can be removed.
func (l Look) Kept(tree Tree) string {
	switch {
	case l.Busy != "":
		return l.Busy
	case len(l.Changed) > 0:
		return "changes are not committed: " + some(l.Changed)
	case len(l.Untracked) > 0:
		return "files are neither committed nor ignored: " + some(l.Untracked)
	case l.Branch == "":
		return fmt.Sprintf("no branch is checked out there, but the commit %.12s", l.Head)
	case l.Branch != tree.Branch:
		return fmt.Sprintf("the branch %s is checked out there, not %s", l.Branch, tree.Branch)
	}
	return ""
}

// some returns the first of several paths, and says how many more there are.
func some(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:3], ", "), len(paths)-3)
	}
	return strings.Join(paths, ", ")
}

// busy returns which operation of git has begun in the tree with the given folder of git and has
// not ended, or "".
func busy(admin string) string {
	for _, op := range [][2]string{
		{"index.lock", "a git command is running there, or was killed (index.lock exists)"},
		{"rebase-merge", "a rebase has begun there and has not ended"},
		{"rebase-apply", "a rebase or git am has begun there and has not ended"},
		{"MERGE_HEAD", "a merge has begun there and has not ended"},
		{"CHERRY_PICK_HEAD", "a cherry-pick has begun there and has not ended"},
		{"REVERT_HEAD", "a revert has begun there and has not ended"},
		{"sequencer", "a cherry-pick or a revert has begun there and has not ended"},
		{"BISECT_LOG", "a bisect has begun there and has not ended"},
	} {
		if exists(filepath.Join(admin, op[0])) {
			return op[1]
		}
	}
	return ""
}

// Look asks git about a tree's folder. Without a folder, only the branch counts.
func (t *Trees) Look(ctx context.Context, tree Tree) (Look, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.find(ctx); err != nil {
		return Look{}, err
	}
	return t.look(ctx, tree)
}

func (t *Trees) look(ctx context.Context, tree Tree) (l Look, err error) {
	if !exists(t.Path(tree)) {
		l.Branch = tree.Branch
		l.Head, err = t.commit(ctx, "refs/heads/"+tree.Branch)
		return l, err
	}
	out, err := t.inTree(ctx, tree, nil, "status", "--porcelain=v2", "--branch", "-z",
		"--untracked-files=normal", "--ignore-submodules=dirty") // git would run in a repository that is in the tree
	if err != nil {
		return Look{}, err
	}
	l.Busy = busy(tree.Admin)
	renamed := false
	for line := range strings.SplitSeq(string(out), "\x00") {
		switch kind, rest, _ := strings.Cut(line, " "); {
		case renamed: // the old name of a renamed file
			renamed = false
		case strings.HasPrefix(line, "# branch.oid "):
			l.Head = strings.TrimPrefix(line, "# branch.oid ")
		case strings.HasPrefix(line, "# branch.head "):
			if l.Branch = strings.TrimPrefix(line, "# branch.head "); l.Branch == "(detached)" {
				l.Branch = ""
			}
		case kind == "?":
			l.Untracked = append(l.Untracked, rest)
		case kind == "1", kind == "2", kind == "u":
			renamed = kind == "2"
			fields := map[string]int{"1": 8, "2": 9, "u": 10}
			parts := strings.SplitN(line, " ", fields[kind]+1)
			l.Changed = append(l.Changed, parts[len(parts)-1])
		}
	}
	return l, nil
}

// Tip returns the commit of a tree's branch, or "" if somebody deleted the branch.
func (t *Trees) Tip(ctx context.Context, tree Tree) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.find(ctx); err != nil {
		return "", err
	}
	return t.commit(ctx, "refs/heads/"+tree.Branch)
}

// Remove removes the folder of a tree, unless it must stay. kept says why it stays, or is "". No
// process of an agent may work in the folder any more.
func (t *Trees) Remove(ctx context.Context, tree Tree) (kept string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.find(ctx); err != nil {
		return "", err
	}
	return t.remove(ctx, tree)
}

func (t *Trees) remove(ctx context.Context, tree Tree) (kept string, err error) {
	if exists(t.Path(tree)) {
		l, err := t.look(ctx, tree)
		if err != nil {
			return "", err
		}
		if kept := l.Kept(tree); kept != "" {
			return kept, nil
		}
	}
	if tree.Tip, err = t.commit(ctx, "refs/heads/"+tree.Branch); err != nil {
		return "", err
	}
	tree.State = Removing
	if err := t.record(tree); err != nil {
		return "", err
	}
	return t.removeFolder(ctx, tree)
}

// removeFolder carries out a removal that the ledger has. Git checks again that nothing is lost.
func (t *Trees) removeFolder(ctx context.Context, tree Tree) (kept string, err error) {
	if exists(t.Path(tree)) || exists(tree.Admin) {
		err := t.step("git worktree remove", func() error { return t.repo.RemoveTree(ctx, tree.Admin, t.Path(tree)) })
		if git.Exited(err, 128) { // the folder was changed meanwhile, or it is locked
			tree.State = Ready
			return err.Error(), t.record(tree)
		} else if err != nil {
			return "", err
		}
	}
	if tree.Tip == "" || tree.Tip == tree.Base {
		return "", t.removeBranch(ctx, tree)
	}
	tree.State = Removed
	return "", t.record(tree)
}

// removeBranch removes a branch on which nothing was committed, unless somebody has moved it since.
func (t *Trees) removeBranch(ctx context.Context, tree Tree) error {
	ref := "refs/heads/" + tree.Branch
	tip, err := t.commit(ctx, ref)
	if err != nil {
		return err
	}
	switch tip {
	case "":
	case tree.Base:
		err := t.step("git update-ref -d", func() error {
			_, err := t.run(ctx, "update-ref", "-d", ref, tip)
			return err
		})
		if err != nil {
			return err
		}
	default:
		tree.State, tree.Tip = Removed, tip
		return t.record(tree)
	}
	return t.forget(tree)
}

// restoreFiles brings back the files that an interrupted removal deleted: git does not remove a
// folder in which tracked files are missing. No file is overwritten.
func (t *Trees) restoreFiles(ctx context.Context, tree Tree) error {
	dir := t.Path(tree)
	if !exists(dir) || !exists(tree.Admin) {
		return nil
	}
	if link := filepath.Join(dir, ".git"); !exists(link) {
		if err := os.WriteFile(link, []byte("gitdir: "+tree.Admin+"\n"), 0o666); err != nil {
			return err
		}
	}
	_, err := t.inTree(ctx, tree, nil, "checkout-index", "--all", "--quiet")
	if git.Exited(err, 128) || git.Exited(err, 1) { // a file exists, which is what we want
		return nil
	}
	return err
}

// unlist removes a folder that is gone from git's list of worktrees. It is not git worktree prune,
// which would also remove a person's worktree on a disk that is not there now.
func (t *Trees) unlist(ctx context.Context, dir string) error {
	err := t.step("git worktree remove", func() error { return t.repo.RemoveTree(ctx, "", dir) })
	if git.Exited(err, 128) && strings.Contains(err.Error(), "is not a working tree") {
		return nil
	}
	return err
}
