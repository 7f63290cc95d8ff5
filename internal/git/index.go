package git

import (
	"context"
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
