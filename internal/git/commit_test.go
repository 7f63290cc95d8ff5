package git_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// A name without a commit is not the same as a repository that cannot be asked: the caller would
// otherwise take a branch for deleted.
func TestCommit(t *testing.T) {
	dir, run := repo(t)
	run("commit", "-q", "--allow-empty", "-m", "one")
	g, err := git.Find(t.Context(), "", os.Environ(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := g.Commit(t.Context(), "HEAD"); err != nil || got != run("rev-parse", "HEAD") {
		t.Errorf("HEAD: %q, %v", got, err)
	}
	for _, name := range []string{"refs/heads/nosuch", "a b", "", "-x", "HEAD^{tree}"} {
		if _, err := g.Commit(t.Context(), name); !errors.Is(err, git.ErrNoCommit) {
			t.Errorf("%q: %v, want that there is no such commit", name, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, ".git", "HEAD")); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Commit(t.Context(), "refs/heads/main"); err == nil || errors.Is(err, git.ErrNoCommit) {
		t.Errorf("without .git/HEAD: %v, want another error", err)
	}
}
