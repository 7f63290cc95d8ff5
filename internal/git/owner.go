package git

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// An OwnerError reports that git refuses a repository because another user owns its files.
type OwnerError struct{ Dir string }

func (e *OwnerError) Error() string {
	return fmt.Sprintf("git refuses the repository %s, because another user owns it (dubious ownership)", e.Dir)
}

// Next returns the command that makes git trust the repository.
func (e *OwnerError) Next() string {
	return "git config --global --add safe.directory " + screen.TypedWord(e.Dir)
}

// refusedOwner matches the message of git 2.35.2 and later, and of the patched versions before.
var refusedOwner = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)(?:detected dubious ownership in|unsafe) repository (?:at )?\(?'(.*?)'(?: is owned by someone else\))?\n`)
})

// Failed returns the error of a git command that printed stderr: an [*OwnerError] if git
// refuses the repository.
func Failed(cmd *exec.Cmd, err error, stderr string) error {
	if m := refusedOwner().FindStringSubmatch(stderr + "\n"); m != nil {
		return &OwnerError{m[1]}
	}
	return newProgramError(cmd, err, stderr)
}

// InWorkTree returns nil if a folder is in a git working tree. The error is [ErrNoGit],
// [ErrNoRepository], an [*OwnerError], or another error from git. environ is as in [Find].
func InWorkTree(ctx context.Context, environ []string, dir string) error {
	_, err := Find(ctx, "", environ, dir)
	return err
}

// Ignores reports whether git ignores a path in a working tree, so that git add . leaves it out.
func Ignores(ctx context.Context, environ []string, dir, path string) (bool, error) {
	g, err := Find(ctx, "", environ, dir)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	cmd := g.raw(ctx, dir, "check-ignore", "-q", "--", path)
	cmd.Env = append(cmd.Env, "GIT_LITERAL_PATHSPECS=0") // check-ignore does not support it
	_, err = output(cmd)
	if err != nil && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1 {
		return false, nil
	}
	return err == nil, err
}

// Worktrees returns what git worktree list --porcelain -z prints for the repository of a folder.
func Worktrees(ctx context.Context, environ []string, dir string) (string, error) {
	g, err := Find(ctx, "", environ, dir)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, err := output(g.raw(ctx, dir, "worktree", "list", "--porcelain", "-z"))
	return strings.TrimSuffix(string(out), "\n"), err
}
