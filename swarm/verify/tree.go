package verify

import (
	"bytes"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// A treeEntry is a file in a tree of git.
type treeEntry struct{ mode, kind, object, path string }

// entries lists the files of a commit, those in submodules excluded.
func entries(ctx context.Context, g *git.Repo, commit string) ([]treeEntry, error) {
	out, err := g.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var all []treeEntry
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if facts, path, ok := strings.Cut(line, "\t"); ok {
			if f := strings.Fields(facts); len(f) == 3 {
				all = append(all, treeEntry{f[0], f[1], f[2], path})
			}
		}
	}
	return all, nil
}

// treeOf returns the tree that is run: that of the commit, in which the protected files are as in
// the target. The file at index must not exist, or be an index of git; the caller removes it.
func treeOf(ctx context.Context, g *git.Repo, index, commit, target string, protect []string) (string, error) {
	if len(protect) == 0 || target == commit {
		out, err := g.Run(ctx, "rev-parse", "--verify", commit+"^{tree}")
		return string(bytes.TrimSpace(out)), err
	}
	is, err := entries(ctx, g, commit)
	if err != nil {
		return "", err
	}
	shall, err := entries(ctx, g, target)
	if err != nil {
		return "", err
	}
	var info strings.Builder
	// A file is removed before one is added, because a folder may have taken its place.
	for _, e := range is {
		if fromTarget(protect, e.path) {
			info.WriteString("0 " + strings.Repeat("0", len(e.object)) + "\t" + e.path + "\x00")
		}
	}
	for _, e := range shall {
		if fromTarget(protect, e.path) {
			info.WriteString(e.mode + " " + e.object + "\t" + e.path + "\x00")
		}
	}
	built := g.WithIndex(index)
	if _, err := built.Run(ctx, "read-tree", commit); err != nil {
		return "", err
	}
	if _, err := built.Feed(ctx, strings.NewReader(info.String()), "update-index", "-z", "--replace", "--index-info"); err != nil {
		return "", err
	}
	out, err := built.Run(ctx, "write-tree")
	return string(bytes.TrimSpace(out)), err
}

// fromTarget reports whether a file is protected. One with attributes is, because it says with which
// line ends and in which encoding git writes other protected files.
func fromTarget(protect []string, file string) bool {
	return path.Base(file) == ".gitattributes" || matches(protect, file)
}

// changed lists the paths that differ between two commits and that isTest selects, or that match
// protect.
func changed(ctx context.Context, g *git.Repo, base, commit string, protect []string, isTest func(string) bool) ([]string, error) {
	out, err := g.Run(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", base, commit)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), func(p string) bool {
		return !matches(protect, p) && !isTest(p)
	}), nil
}

// baseOf returns the commit at which the work began: the merge base with the target. Without a
// common commit it is the target.
func baseOf(ctx context.Context, g *git.Repo, commit, target string) (string, error) {
	out, err := g.Run(ctx, "merge-base", target, commit)
	if git.Exited(err, 1) {
		return target, nil
	}
	return string(bytes.TrimSpace(out)), err
}
