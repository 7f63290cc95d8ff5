package merge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// branch returns the commit of a branch, or "" if there is no such branch.
func (q *Queue) branch(ctx context.Context, name string) (string, error) {
	commit, err := q.repo.Commit(ctx, "refs/heads/"+name)
	if errors.Is(err, git.ErrNoCommit) {
		return "", nil
	}
	return commit, err
}

// Unmerged returns the commits of the agents' branches that a target does not contain, by branch:
// those below task/ and agent/. Without the target there are none.
func (q *Queue) Unmerged(ctx context.Context, target string) (map[string]string, error) {
	if at, err := q.branch(ctx, target); at == "" {
		return nil, err
	}
	out, err := q.run(ctx, "for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "--no-merged=refs/heads/"+target, "refs/heads/task", "refs/heads/agent")
	commits := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		if branch, commit, ok := strings.Cut(line, " "); ok {
			commits[branch] = commit
		}
	}
	return commits, err
}

// contains reports whether a commit is another one or one of its ancestors. It is false if the
// repository has no such commit.
func (q *Queue) contains(ctx context.Context, commit, ancestor string) (bool, error) {
	_, err := q.run(ctx, "merge-base", "--is-ancestor", ancestor, commit)
	if git.Exited(err, 1) || git.Exited(err, 128) {
		return false, nil
	}
	return err == nil, err
}

// byTrailer finds the commit of a merge in the target's history since the merge began.
func (q *Queue) byTrailer(ctx context.Context, m Merge, target string) (commit, verified string, err error) {
	args := []string{"log", "-1", "--no-show-signature", "--first-parent", "--format=%H %(trailers:key=Verified,valueonly)", "--extended-regexp", "--grep=^Merge-Id: " + regexp.QuoteMeta(m.ID) + "$", target}
	if has, err := q.contains(ctx, target, m.From); err != nil {
		return "", "", err
	} else if has {
		args = append(args, "--not", m.From)
	}
	out, err := q.run(ctx, args...)
	commit, verified, _ = strings.Cut(out, " ")
	switch verified = strings.TrimSpace(verified); verified {
	case "", "no":
		verified = unverified
	default:
		verified += ": " + string(Green)
	}
	return commit, verified, err
}

// reverted reports whether a later commit in the target's history reverts a commit.
func (q *Queue) reverted(ctx context.Context, commit, target string) (bool, error) {
	out, err := q.run(ctx, "log", "-1", "--no-show-signature", "--format=%H", "--fixed-strings", "--grep=This reverts commit "+commit, target, "--not", commit)
	if git.Exited(err, 128) { // the commit is gone
		return false, nil
	}
	return out != "", err
}

// checkout returns the folder of the working tree in which a merge's target is checked out, or "". why
// says why the target cannot be written now.
func (q *Queue) checkout(ctx context.Context, m Merge) (dir string, why *RefusedError, err error) {
	out, err := q.repo.Run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", nil, err
	}
	target, again := m.Target, "then: "+m.retry()
	for block := range strings.SplitSeq(string(out), "\x00\x00") {
		lines := strings.Split(block, "\x00")
		at, ok := strings.CutPrefix(lines[0], "worktree ")
		if !ok {
			continue
		}
		here, detached := false, false
		for _, l := range lines[1:] {
			here = here || l == "branch refs/heads/"+target
			detached = detached || l == "detached"
		}
		_, gone := os.Stat(at)
		switch {
		case detached && gone == nil:
			if rebased, err := q.rebases(ctx, at, target); err != nil {
				return "", nil, err
			} else if rebased {
				return "", &RefusedError{fmt.Sprintf("%s is being rebased in %s", target, at), "finish the rebase, " + again}, nil
			}
		case !here:
		case gone != nil:
			return "", &RefusedError{fmt.Sprintf("%s is checked out in %s, which is not there", target, at), "git worktree prune, " + again}, nil
		case dir != "":
			return "", &RefusedError{fmt.Sprintf("%s is checked out in %s and in %s", target, dir, at), "git switch to another branch in one of them, " + again}, nil
		default:
			dir = at
		}
	}
	if dir == "" {
		return "", nil, nil
	}
	why, err = q.occupied(ctx, dir, m)
	return dir, why, err
}

// rebases reports whether a rebase of a branch is under way in a working tree.
func (q *Queue) rebases(ctx context.Context, dir, branch string) (bool, error) {
	for _, kind := range []string{"rebase-merge", "rebase-apply"} {
		path, err := q.gitPath(ctx, dir, kind+"/head-name")
		if err != nil {
			return false, err
		}
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		if strings.TrimSpace(string(data)) == "refs/heads/"+branch {
			return true, nil
		}
	}
	return false, nil
}

// occupied says why the working tree in which the target is checked out cannot be changed now.
func (q *Queue) occupied(ctx context.Context, dir string, m Merge) (*RefusedError, error) {
	target, again := m.Target, "then: "+m.retry()
	in := "cd " + screen.TypedWord(dir) + " && "
	for name, next := range map[string]string{
		"index.lock":       "let the other git process end, or remove the file if there is none, " + again,
		"MERGE_HEAD":       in + "git merge --continue, " + again,
		"CHERRY_PICK_HEAD": in + "git cherry-pick --continue, " + again,
		"REVERT_HEAD":      in + "git revert --continue, " + again,
	} {
		path, err := q.gitPath(ctx, dir, name)
		if err != nil {
			return nil, err
		}
		if _, err := os.Lstat(path); err == nil {
			return &RefusedError{fmt.Sprintf("something is under way in %s, where %s is checked out: %s is there", dir, target, path), next}, nil
		}
	}
	out, err := q.repo.RunIn(ctx, dir, "status", "--porcelain", "-z", "--untracked-files=no")
	if err != nil {
		return nil, err
	}
	var changed []string
	renamed := false
	for line := range strings.SplitSeq(string(out), "\x00") {
		switch {
		case renamed: // the old name
			renamed = false
		case len(line) > 3:
			changed = append(changed, line[3:])
			renamed = strings.ContainsAny(line[:2], "RC")
		}
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return &RefusedError{
		fmt.Sprintf("%s is checked out in %s, where changes are not committed: %s", target, dir, some(changed)),
		in + "git commit, or git stash, " + again,
	}, nil
}

// some returns the first of several paths, and says how many more there are.
func some(paths []string) string {
	if len(paths) > 3 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:3], ", "), len(paths)-3)
	}
	return strings.Join(paths, ", ")
}

// gitPath returns the absolute path of a file in the repository's folder for a working tree.
func (q *Queue) gitPath(ctx context.Context, dir, name string) (string, error) {
	out, err := q.repo.RunIn(ctx, dir, "rev-parse", "--git-path", name)
	path := strings.TrimSuffix(string(out), "\n")
	if err == nil && !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	return path, err
}

// publish moves the target from m.Old to m.Result. The error is [errMoved] if it is not at m.Old,
// or a [*RefusedError] if it cannot be written now.
func (q *Queue) publish(ctx context.Context, m Merge) error {
	// A git process that is killed while it changes a person's files leaves them half changed.
	ctx = context.WithoutCancel(ctx)
	dir, why, err := q.checkout(ctx, m)
	if err != nil {
		return err
	} else if why != nil {
		return why
	}
	if dir == "" {
		_, err := q.run(ctx, "update-ref", "-m", "claude-swarm merge "+m.ID, "refs/heads/"+m.Target, m.Result, m.Old)
		if now, at := q.branch(ctx, m.Target); at == nil && err != nil && now != m.Old {
			return errMoved
		}
		return busy(err, m)
	}
	// git merge merges into whatever is checked out, so this is checked right before it.
	head, err := q.repo.RunIn(ctx, dir, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && !git.Exited(err, 1) {
		return err
	}
	if now, err := q.branch(ctx, m.Target); err != nil {
		return err
	} else if now != m.Old || strings.TrimSpace(string(head)) != "refs/heads/"+m.Target {
		return errMoved
	}
	q.step("git merge --ff-only")
	_, err = q.repo.RunIn(ctx, dir, "merge", "--quiet", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-stat", m.Result)
	q.step("ran git merge --ff-only")
	now, at := q.branch(ctx, m.Target)
	if at != nil {
		return at
	}
	switch {
	case err == nil && now == m.Old:
		return &RefusedError{fmt.Sprintf("another branch was checked out in %s during the merge, and %.12s went into that one", dir, m.Result),
			"cd " + screen.TypedWord(dir) + " && git reflog, and take it back there, then: " + m.retry()}
	case err != nil && now != m.Old:
		return errMoved
	case err != nil:
		return &RefusedError{fmt.Sprintf("git refuses to change the files in %s: %v", dir, err), "move those files away, then: " + m.retry()}
	}
	return nil
}

// busy turns the error of a locked reference into one for which the merge waits.
func busy(err error, m Merge) error {
	if err != nil && strings.Contains(err.Error(), ".lock") {
		return &RefusedError{fmt.Sprintf("another git process changes %s: %v", m.Target, err), m.retry()}
	}
	return err
}
