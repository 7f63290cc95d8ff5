package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// A branch reads the audit's branch. The prefix of its repository is that of the mailboxes.
type branch struct{ *git.Repo }

// scope returns the final arguments of a git command, which limit the command to the
// mailboxes.
func (g branch) scope() []string {
	if g.Prefix == "" {
		return nil
	}
	return []string{strings.TrimSuffix(g.Prefix, "/")}
}

// tip returns the branch's newest commit, or "" if there is no branch. The error is
// [ErrCheckedOut] if moving the branch would affect a working tree.
func (g branch) tip(ctx context.Context) (string, error) {
	out, err := g.Run(ctx, "for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)%00", ref)
	if err != nil {
		return "", err
	}
	// The pattern also matches branches below ref, such as dead-drop/x.
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		if strings.TrimPrefix(fields[0], "\n") != ref {
			continue
		}
		if tree := fields[2]; tree != "" {
			if _, err := os.Stat(tree); !errors.Is(err, os.ErrNotExist) {
				return "", fmt.Errorf("%w in %s", ErrCheckedOut, tree)
			}
		}
		return fields[1], nil
	}
	// A branch without commits can also be checked out, because HEAD contains only its
	// name.
	out, err = g.Run(ctx, "symbolic-ref", "-q", "HEAD")
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		return "", err
	}
	if strings.TrimSpace(string(out)) == ref {
		return "", ErrCheckedOut
	}
	return "", nil
}

// ours reports whether any commit on the branch was made by an audit.
func (g branch) ours(ctx context.Context, tip string) (bool, error) {
	out, err := g.Run(ctx, "rev-list", "-1", "--fixed-strings", "--committer="+git.MailHost, tip)
	return len(out) > 0, err
}

// tree returns the mailboxes' files in a commit, with the object name of each file. Paths
// are relative to the mailboxes.
func (g branch) tree(ctx context.Context, tip string) (map[string]string, error) {
	files := map[string]string{}
	if tip == "" {
		return files, nil
	}
	out, err := g.Run(ctx, slices.Concat([]string{"ls-tree", "-r", "-z", "--full-tree", tip}, g.scope())...)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		kind, name, _ := strings.Cut(line, "\t")
		if name, ok := strings.CutPrefix(name, g.Prefix); ok && name != "" {
			files[name] = kind[strings.LastIndexByte(kind, ' ')+1:]
		}
	}
	return files, nil
}

// diff lists the mailboxes' files that differ between two commits. added also includes
// changed files.
func (g branch) diff(ctx context.Context, from, to string) (added, gone []string, err error) {
	out, err := g.Run(ctx, slices.Concat([]string{"diff-tree", "-r", "-z", "--no-renames", "--name-status", from, to, "--"}, g.scope())...)
	if err != nil {
		return nil, nil, err
	}
	for fields := strings.Split(string(out), "\x00"); len(fields) > 1; fields = fields[2:] {
		name, ok := strings.CutPrefix(fields[1], g.Prefix)
		switch {
		case !ok:
		case fields[0] == "D":
			gone = append(gone, name)
		default:
			added = append(added, name)
		}
	}
	return added, gone, nil
}

var crashReport = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`dumping crash report to .*(fast_import_crash_\d+)`) })

// dropCrashReport removes the file that fast-import leaves in the repository when its input
// ends too early. It is not needed, because our error contains its important part.
func (g branch) dropCrashReport(stderr string) {
	if m := crashReport().FindStringSubmatch(stderr); m != nil {
		_ = os.Remove(filepath.Join(g.GitDir, m[1]))
	}
}
