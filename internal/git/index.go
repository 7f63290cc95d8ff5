package git

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
)

// WithIndex returns a copy of the repository whose commands use another index file.
func (g *Repo) WithIndex(path string) *Repo {
	other := *g
	other.env = append(slices.Clone(g.env), "GIT_INDEX_FILE="+path)
	return &other
}

// Feed is like [Repo.Run] with the standard input of git.
func (g *Repo) Feed(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	cmd := g.Command(ctx, args...)
	cmd.Stdin = in
	return output(cmd)
}

// ErrNoCommit reports that a name stands for no commit.
var ErrNoCommit = errors.New("no such commit")

// Commit returns the full object name of a commit. The error is [ErrNoCommit] if the repository
// has none with this name.
func (g *Repo) Commit(ctx context.Context, name string) (string, error) {
	out, err := g.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if Exited(err, 1) || Exited(err, 128) { // 128: the text cannot be the name of an object
		return "", ErrNoCommit
	}
	return string(bytes.TrimSpace(out)), err
}
