package worktree

import (
	"context"
	"os"
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
	if _, err := t.repo.Run(ctx, "worktree", "add", "--quiet", "--detach", "--no-checkout", dir, "HEAD"); err != nil {
		return undo, err
	}
	if err := os.RemoveAll(dir); err != nil {
		return undo, err
	}
	return func() {
		// The turn's context may be done.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), git.Timeout+time.Second)
		defer cancel()
		t.mu.Lock()
		defer t.mu.Unlock()
		if !exists(dir) { // otherwise the tree was made again
			_ = t.unlist(ctx, dir) // Make tries again when the tree is needed
		}
	}, nil
}
