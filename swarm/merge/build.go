package merge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// treesFolder is the folder of the temporary working trees, in the queue's folder.
const treesFolder = "tree"

// run runs git where it needs no working tree, as a step.
func (q *Queue) run(ctx context.Context, args ...string) (string, error) {
	q.step("git " + args[0])
	out, err := q.repo.Run(ctx, args...)
	q.step("ran git " + args[0])
	return strings.TrimSpace(string(out)), err
}

// merged merges in a temporary working tree, and returns the tree of files, or the paths in which
// there is a conflict. The error is a [*RefusedError] if git does not merge for another reason.
func (q *Queue) merged(ctx context.Context, m Merge, old string) (tree string, conflicts []string, err error) {
	// The name is new each time. A git process that a killed program left may still use the old one.
	dir := filepath.Join(q.o.Dir, treesFolder, "merge-"+strings.ToLower(rand.Text()[:12]))
	if err := os.Mkdir(dir, 0o700); err != nil { // before git has an entry with this name; see sweep
		return "", nil, err
	}
	if _, err := q.run(ctx, "worktree", "add", "--quiet", "--detach", dir, old); err != nil {
		return "", nil, err
	}
	admin, err := q.admin(ctx, filepath.Base(dir))
	if err != nil {
		return "", nil, err
	}
	in := func(args ...string) (string, error) {
		q.step("git " + args[0])
		out, err := q.repo.RunTree(ctx, admin, dir, append([]string{"-c", "rerere.enabled=false"}, args...)...)
		q.step("ran git " + args[0])
		return string(out), err
	}
	verb := []string{"merge", "--quiet", "--no-ff", "--no-commit", "--no-autostash", m.Commit}
	if m.Undoes != "" {
		verb = []string{"revert", "--no-commit", "-m", "1", m.Commit}
	}
	_, mergeErr := in(verb...)
	out, err := in("diff", "--name-only", "--diff-filter=U", "-z")
	if err != nil {
		return "", nil, err
	}
	conflicts = strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
	switch {
	case ctx.Err() != nil:
		return "", nil, ctx.Err()
	case len(conflicts) > 0:
		return "", conflicts, q.sweep()
	case mergeErr != nil:
		if _, ok := errors.AsType[*git.ProgramError](mergeErr); !ok {
			return "", nil, mergeErr
		}
		return "", nil, errors.Join(q.sweep(), &RefusedError{mergeErr.Error(), m.retry()})
	}
	if out, err = in("write-tree"); err != nil {
		return "", nil, err
	}
	return strings.TrimSpace(out), nil, q.sweep()
}

// commit makes a commit with the files of the tree on top of old. No branch has it yet.
func (q *Queue) commit(ctx context.Context, m Merge, old, tree string, v Verdict) (string, error) {
	args := []string{"-c", "user.name=" + git.Committer, "-c", "user.email=" + git.Committer + git.MailHost, "commit-tree", tree, "-p", old}
	if m.Undoes == "" {
		args = append(args, "-p", m.Commit)
	}
	q.step("git commit-tree")
	out, err := q.repo.Run(ctx, append(args, "-m", m.message(v))...)
	q.step("ran git commit-tree")
	return strings.TrimSpace(string(out)), err
}

// admin returns git's own folder for the working tree with this name.
func (q *Queue) admin(ctx context.Context, name string) (string, error) {
	out, err := q.repo.Run(ctx, "rev-parse", "--git-common-dir")
	if err != nil {
		return "", err
	}
	common := strings.TrimSuffix(string(out), "\n")
	if !filepath.IsAbs(common) {
		common = filepath.Join(q.repo.GitDir, common)
	}
	return filepath.Join(common, "worktrees", name), nil
}

// sweep removes the temporary working trees, also those that a crash left. Git's entry goes first,
// because its name is known from the folder. Only the holder of the lock may sweep.
func (q *Queue) sweep() error {
	trees := filepath.Join(q.o.Dir, treesFolder)
	entries, err := os.ReadDir(trees)
	if err != nil {
		return err
	}
	for _, e := range entries {
		// The caller may have been interrupted, but nothing may stay behind.
		admin, err := q.admin(context.Background(), e.Name())
		if err != nil {
			return err
		}
		for _, path := range []string{admin, filepath.Join(trees, e.Name())} {
			q.step("remove the working tree")
			if err := removeAll(path); err != nil {
				return fmt.Errorf("remove the working tree of a merge: %w", err)
			}
			q.step("removed the working tree")
		}
		_ = os.Remove(filepath.Dir(admin)) // as git does after the last worktree; others may be there
	}
	return nil
}

// removeAll removes a folder in which a git process may still be writing, which a killed program
// has left.
func removeAll(path string) (err error) {
	for range 20 {
		if err = os.RemoveAll(path); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}
