package worktree

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// Listed makes git list the folder of a tree that was removed, until undo is called. The folder
// itself is not there meanwhile. Claude Code 2.1.197 finds a conversation only in the folders
// that git lists. If git lists the folder anyway, Listed does nothing.
func (t *Trees) Listed(ctx context.Context, dir string) (undo func(), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	undo = func() {}
	if exists(dir) {
		return undo, nil
	}
	if err := t.find(ctx); err != nil {
		return undo, err
	}
	if _, err := t.run(ctx, "worktree", "add", "--quiet", "--detach", "--no-checkout", dir, "HEAD"); err != nil {
		return undo, err
	}
	if err := t.removeEmpty(dir); err != nil {
		return undo, err
	}
	return func() {
		// The turn's context may be done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), git.Timeout+time.Second)
		defer cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		if !exists(dir) { // otherwise the tree was made again
			_ = t.unlist(ctx, dir) // Reconcile tries again
		}
	}, nil
}

// removeEmpty removes a folder that git made without files, and the folders around it that git
// made, too.
func (t *Trees) removeEmpty(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for up := filepath.Dir(dir); strings.HasPrefix(up, filepath.Join(t.project, folder)+"/"); up = filepath.Dir(up) {
		if os.Remove(up) != nil {
			break // it has other files
		}
	}
	return nil
}

// unlistLeft removes from git's list what an interrupted Listed left: a folder without a branch
// and without files.
func (t *Trees) unlistLeft(ctx context.Context, l listing) (done bool, err error) {
	entries, err := os.ReadDir(l.dir)
	if err != nil || l.branch != "" || l.locked || len(entries) != 1 || entries[0].Name() != ".git" {
		return false, err
	}
	if err := t.removeEmpty(l.dir); err != nil {
		return false, err
	}
	return true, t.unlist(ctx, l.dir)
}
