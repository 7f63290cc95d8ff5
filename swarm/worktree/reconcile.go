package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/git"
)

// labelName is the name of the copy of a tree's entry in git's own folder of the tree. It is read
// only if the ledger is lost.
const labelName = "claude-swarm.json"

type label struct {
	V    durable.Version1 `json:"v"`
	Tree Tree             `json:"tree"`
}

// label writes the copy of a tree's entry.
func (t *Trees) label(tree Tree) error {
	tree.State = Ready
	return t.files.WriteJSON(filepath.Join(tree.Admin, labelName), label{Tree: tree})
}

// Reconcile finishes what an earlier daemon left, and makes the ledger agree with git. It must be
// called before the first tree is made. Git runs only if the ledger knows a tree, or if the
// project has a folder of trees. An error says which trees cannot be finished; Make tries again.
func (t *Trees) Reconcile(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.List()
	if len(known) == 0 && !exists(filepath.Join(t.project, folder)) {
		return nil
	}
	if err := t.find(ctx); err != nil {
		if _, refused := errors.AsType[*RefusedError](err); refused {
			return nil // Make says it
		}
		return err
	}
	var errs []error
	for _, tree := range known {
		errs = append(errs, t.finish(ctx, tree))
	}
	all, err := t.listed(ctx)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, l := range all {
		rel, err := filepath.Rel(t.project, l.dir)
		if err != nil || !strings.HasPrefix(rel, folder+"/") {
			continue
		}
		switch _, known := t.doc.Get().Of[filepath.ToSlash(rel)]; {
		case !exists(l.dir): // Listed made the entry, or somebody removed the folder
			errs = append(errs, t.unlist(ctx, l.dir))
		case !known:
			errs = append(errs, t.relearn(ctx, l, filepath.ToSlash(rel)))
		}
	}
	return errors.Join(errs...)
}

// relearn adds a tree to a ledger that was lost, and removes what an interrupted Listed left.
func (t *Trees) relearn(ctx context.Context, l listing, dir string) error {
	if left, err := t.unlistLeft(ctx, l); err != nil || left {
		return err
	}
	out, err := t.repo.RunIn(ctx, l.dir, "rev-parse", "--absolute-git-dir")
	if err != nil {
		return err
	}
	admin := strings.TrimSuffix(string(out), "\n")
	var read label
	if err := durable.ReadJSON(filepath.Join(admin, labelName), &read); err != nil {
		return durable.IgnoreDamage(err)
	}
	// The file is only a hint: git's own list must say the same.
	if tree := read.Tree; tree.Dir == dir && tree.Admin == admin && (tree.Branch == l.branch || l.branch == "") && tree.Agent != "" {
		tree.State = Ready
		return t.record(tree)
	}
	return nil // a person's worktree
}

// finish finishes what a crash or an error interrupted: a tree is then ready, removed, or
// forgotten. The caller holds the mutex.
func (t *Trees) finish(ctx context.Context, tree Tree) error {
	switch {
	case tree.State == Removing:
		if err := t.restoreFiles(ctx, tree); err != nil {
			return err
		}
		_, err := t.removeFolder(ctx, tree)
		return err
	case tree.State == Making:
		// No turn has run in the folder, so all in it can be made again.
		if err := t.step("remove the folder", func() error { return os.RemoveAll(t.Path(tree)) }); err != nil {
			return err
		}
		if err := t.unlist(ctx, t.Path(tree)); err != nil {
			return err
		}
		tip, err := t.commit(ctx, "refs/heads/"+tree.Branch)
		if err != nil {
			return err
		} else if tip == "" {
			return t.forget(tree)
		}
		tree.State, tree.Tip = Removed, tip
		return t.record(tree)
	case tree.State == Ready && !exists(t.Path(tree)): // somebody else removed or moved the folder
		if err := t.unlist(ctx, t.Path(tree)); err != nil {
			if git.Exited(err, 128) {
				return &BusyError{err.Error(), "git worktree unlock " + tree.Dir}
			}
			return err
		}
		var err error
		if tree.Tip, err = t.commit(ctx, "refs/heads/"+tree.Branch); err != nil {
			return err
		}
		tree.State = Removed
		return t.record(tree)
	case tree.State == Removed && !exists(t.Path(tree)): // Listed may have left an entry
		return t.unlist(ctx, t.Path(tree))
	}
	return nil
}
