package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// Incomplete commits to a tree's branch what is not committed in its folder, without the files
// that git ignores. The commit is "" if all is committed. kept says why nothing can be committed,
// or is "": an operation of git that has begun, such as a rebase, stays as it is. No process of an
// agent may work in the folder any more. After an error, Incomplete can be called again.
func (t *Trees) Incomplete(ctx context.Context, tree Tree, subject string) (commit, kept string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.find(ctx); err != nil {
		return "", "", err
	}
	if !exists(t.Path(tree)) {
		return "", "", nil
	}
	l, err := t.look(ctx, tree)
	if err != nil || len(l.Changed)+len(l.Untracked) == 0 {
		return "", "", err
	}
	if kept := (Look{Head: l.Head, Branch: l.Branch, Busy: l.Busy}).Kept(tree); kept != "" {
		return "", kept, nil
	}
	// Git's folder of the tree, not the tree: status must not show this file.
	index := filepath.Join(tree.Admin, "incomplete.index")
	for _, left := range []string{index, index + ".lock"} {
		if err := os.Remove(left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
	}
	data, err := os.ReadFile(filepath.Join(tree.Admin, "index"))
	if err == nil {
		err = os.WriteFile(index, data, 0o600)
	}
	if err != nil {
		return "", "", err
	}
	commit, kept, err = t.commitAll(ctx, tree, l, index, subject)
	return commit, kept, errors.Join(err, os.Remove(index))
}

// commitAll makes the commit with a temporary index.
func (t *Trees) commitAll(ctx context.Context, tree Tree, l Look, index, subject string) (commit, kept string, err error) {
	env := []string{"GIT_INDEX_FILE=" + index}
	if _, err := t.inTree(ctx, tree, env, "add", "--all", "--", "."); err != nil {
		return "", "", err
	}
	staged, err := t.inTree(ctx, tree, env, "ls-files", "-z", "--stage")
	if err != nil {
		return "", "", err
	}
	for line := range bytes.SplitSeq(staged, []byte{0}) {
		if bytes.HasPrefix(line, []byte("160000 ")) {
			_, path, _ := bytes.Cut(line, []byte("\t"))
			return "", "a git repository is there: " + string(path), nil
		}
	}
	out, err := t.inTree(ctx, tree, env, "write-tree")
	if err != nil {
		return "", "", err
	}
	content := strings.TrimSpace(string(out))
	had, err := t.run(ctx, "rev-parse", "--verify", l.Head+"^{tree}")
	if err != nil {
		return "", "", err
	}
	commit = l.Head
	if strings.TrimSpace(string(had)) != content { // otherwise an earlier call was interrupted
		author := []string{"GIT_AUTHOR_NAME=" + tree.Agent, "GIT_AUTHOR_EMAIL=" + tree.Agent + git.MailHost}
		out, err := t.inTree(ctx, tree, author, "commit-tree", "-p", l.Head, "-m", "[INCOMPLETE] "+subject, content)
		if err != nil {
			return "", "", err
		}
		commit = strings.TrimSpace(string(out))
		if _, err := t.inTree(ctx, tree, nil, "update-ref", "-m", "claude-swarm: incomplete", "refs/heads/"+tree.Branch, commit, l.Head); err != nil {
			return "", "", err
		}
	}
	// The index becomes that of the commit. No file of the tree changes.
	_, err = t.inTree(ctx, tree, nil, "read-tree", "--reset", commit)
	return commit, "", err
}
