package worktree

import (
	"context"
	"path/filepath"
	"strings"
)

// Tracked returns the files below a folder of the project that a tree's index has, as absolute
// paths in the tree.
func (t *Trees) Tracked(ctx context.Context, tree Tree, dir string) (map[string]bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.find(ctx); err != nil {
		return nil, err
	}
	top := t.Path(tree)
	rel, err := filepath.Rel(top, below(top, t.top, dir))
	if err != nil {
		return nil, err
	}
	out, err := t.inTree(ctx, tree, nil, "ls-files", "-z", "--", rel)
	if err != nil {
		return nil, err
	}
	has := map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		has[filepath.Join(top, name)] = true
	}
	return has, nil
}
