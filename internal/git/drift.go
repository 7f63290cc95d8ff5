package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// HeadMoves says how the HEAD of a working tree moved, according to its reflog.
type HeadMoves struct {
	From, To string // commits; both "" if HEAD did not move
	// FromBranch and ToBranch are the branches, or commits, of the first and the last
	// switch; both "" if there was none. Anybody may have chosen the names.
	FromBranch, ToBranch string
	// Commits is set if HEAD moved only by commits, so no other file was rewritten.
	Commits bool
}

// reflogTail is how much of a reflog is read, in bytes: some hundred moves.
const reflogTail = 64 << 10

// MovesSince reads how HEAD moved in the working tree that contains a folder. It starts no
// program. A move in the second of since counts as earlier. inTree is false if the folder is in
// no working tree. Without a reflog, it finds no move.
func MovesSince(dir string, since time.Time) (m HeadMoves, inTree bool, err error) {
	gitDir, err := gitDirAbove(dir)
	if err != nil || gitDir == "" {
		return m, false, err
	}
	f, err := os.Open(filepath.Join(gitDir, "logs", "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return m, true, nil
	} else if err != nil {
		return m, true, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m, true, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-reflogTail), reflogTail))
	if err != nil {
		return m, true, err
	}
	m.Commits = true
	for line := range bytes.Lines(data) {
		m.add(string(bytes.TrimRight(line, "\n")), since)
	}
	return m, true, nil
}

// add counts a line of a reflog: OLD NEW NAME <MAIL> SECONDS ZONE, a tab and what was done.
func (m *HeadMoves) add(line string, since time.Time) {
	head, what, _ := strings.Cut(line, "\t")
	old, rest, _ := strings.Cut(head, " ")
	now, rest, _ := strings.Cut(rest, " ")
	at := strings.Fields(rest[strings.LastIndexByte(rest, '>')+1:])
	if len(at) != 2 || !commitName().MatchString(old) || !commitName().MatchString(now) {
		return // cut off, or being written
	}
	seconds, err := strconv.ParseInt(at[0], 10, 64)
	if err != nil || seconds <= since.Unix() {
		return
	}
	m.From, m.To = cmp.Or(m.From, old), now
	if !strings.HasPrefix(what, "commit") {
		m.Commits = false
	}
	if switched, ok := strings.CutPrefix(what, "checkout: moving from "); ok {
		from, to, _ := strings.Cut(switched, " to ")
		m.FromBranch, m.ToBranch = cmp.Or(m.FromBranch, from), to
	}
}

// gitDirAbove returns git's folder of the working tree that contains a folder, or "".
func gitDirAbove(dir string) (string, error) {
	for top := dir; ; top = filepath.Dir(top) {
		path := filepath.Join(top, ".git")
		switch info, err := os.Stat(path); {
		case err == nil && info.IsDir():
			return path, nil
		case err == nil: // a linked worktree
			data, err := os.ReadFile(path)
			if err != nil {
				return "", err
			}
			gitDir, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
			if !ok {
				return "", fmt.Errorf("git: %s names no folder", path)
			}
			if !filepath.IsAbs(gitDir) {
				gitDir = filepath.Join(top, gitDir)
			}
			return gitDir, nil
		case top == filepath.Dir(top):
			return "", nil
		}
	}
}

// CommitsBetween returns the names of the authors of the commits that lead from one commit to
// another, newest first, at most the given number, and the paths that they changed, relative to
// the root of the tree. dir is a folder in the working tree.
func CommitsBetween(ctx context.Context, environ []string, dir, from, to string, most int) (authors []string, paths map[string]bool, err error) {
	for _, name := range []string{from, to} {
		if !commitName().MatchString(name) {
			return nil, nil, fmt.Errorf("git: %q is not the name of a commit", name)
		}
	}
	out, err := in(ctx, environ, dir, "log", "-z", "--no-show-signature", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames",
		"--name-only", "--max-count="+strconv.Itoa(most), "--format=%x01%an", "^"+from, to, "--")
	if err != nil {
		return nil, nil, err
	}
	paths = map[string]bool{}
	for field := range strings.SplitSeq(string(out), "\x00") {
		field = strings.TrimPrefix(field, "\n")
		if author, ok := strings.CutPrefix(field, "\x01"); ok {
			authors = append(authors, author)
		} else if field != "" {
			paths[field] = true
		}
	}
	return authors, paths, nil
}

// WrittenSince returns the files below a folder of a working tree that were written after a time,
// relative to the folder: those that git tracks, and those that it neither tracks nor ignores. It
// goes by the files' times: comparing contents, as git status does, may run filters that the
// repository's configuration names.
func WrittenSince(ctx context.Context, environ []string, dir string, since time.Time) ([]string, error) {
	out, err := in(ctx, environ, dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var written []string
	last := ""
	for path := range strings.SplitSeq(string(out), "\x00") {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if path == "" || path == last { // a file in a conflict is listed several times
			continue
		}
		last = path
		if info, err := os.Lstat(filepath.Join(dir, path)); err == nil && !info.IsDir() && info.ModTime().After(since) {
			written = append(written, path)
		}
	}
	return written, nil
}

// in runs a git command in a folder of a working tree.
func in(ctx context.Context, environ []string, dir string, args ...string) ([]byte, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoGit, err)
	}
	g := &Repo{path: path, env: cleaned(environ)}
	cmd := g.raw(ctx, dir, args...)
	cmd.WaitDelay = 100 * time.Millisecond // a caller with little time does not wait for a process that git has left
	return output(cmd)
}
