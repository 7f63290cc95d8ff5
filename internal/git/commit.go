package git

import (
	"bytes"
	"context"
	"errors"
)

// ErrNoCommit reports that a name stands for no commit.
var ErrNoCommit = errors.New("no such commit")

// Commit returns the full object name of a commit. The error is [ErrNoCommit] if the repository
// has none with this name. Another error, such as that of a damaged repository, says nothing about
// the commit.
func (g *Repo) Commit(ctx context.Context, name string) (string, error) {
	out, err := g.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if Exited(err, 1) {
		return "", ErrNoCommit
	}
	return string(bytes.TrimSpace(out)), err
}
