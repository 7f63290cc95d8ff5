package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// A FileDiff is the difference of one file between two commits.
type FileDiff struct {
	Path           string // in the tree
	Status         byte   // A (added), D (deleted), M (modified) or T (another type)
	Added, Deleted int    // lines
	Binary         bool   // git takes it for binary, so it counts no lines
	Patch          string // a unified diff
}

// commitName matches the full or abbreviated name of an object. Any other name could be an
// option, or a branch that has moved.
var commitName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,64}$`) })

// Diff returns what changed from one commit to another, by path. A renamed file is a deleted
// and an added one. No program of the repository's configuration or attributes runs.
func (g *Repo) Diff(ctx context.Context, base, commit string) ([]FileDiff, error) {
	for _, name := range []string{base, commit} {
		if !commitName().MatchString(name) {
			return nil, fmt.Errorf("git: %q is not the name of a commit", name)
		}
	}
	tree := func(as ...string) ([]byte, error) {
		args := append([]string{"diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--submodule=short"}, as...)
		return g.Run(ctx, append(args, base, commit, "--")...)
	}
	lists, err := tree("-z", "--raw", "--numstat")
	if err != nil {
		return nil, err
	}
	files, err := parseDiffLists(lists)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	patches, err := tree("-p", "--src-prefix=a/", "--dst-prefix=b/")
	if err != nil {
		return nil, err
	}
	parts := bytes.Split(append([]byte("\n"), patches...), []byte("\ndiff --git "))[1:]
	if len(parts) != len(files) {
		return nil, errors.New("git: the patch does not match the list of files")
	}
	for i, part := range parts {
		text := "diff --git " + string(part)
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		files[i].Patch = text
	}
	return files, nil
}

// parseDiffLists parses the output of git diff-tree -z --raw --numstat: first the statuses, then
// the numbers of lines.
func parseDiffLists(out []byte) ([]FileDiff, error) {
	var files []FileDiff
	bad := errors.New("git: the list of files is not understood")
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for len(fields) > 1 && strings.HasPrefix(fields[0], ":") {
		words := strings.Fields(fields[0])
		if len(words) != 5 || words[4] == "" {
			return nil, bad
		}
		files = append(files, FileDiff{Path: fields[1], Status: words[4][0]})
		fields = fields[2:]
	}
	if len(files) == 0 {
		return nil, nil
	}
	if len(fields) != len(files) {
		return nil, bad
	}
	for i, f := range fields {
		words := strings.SplitN(f, "\t", 3)
		if len(words) != 3 || words[2] != files[i].Path {
			return nil, bad
		}
		if words[0] == "-" {
			files[i].Binary = true
			continue
		}
		var err1, err2 error
		files[i].Added, err1 = strconv.Atoi(words[0])
		files[i].Deleted, err2 = strconv.Atoi(words[1])
		if err1 != nil || err2 != nil {
			return nil, bad
		}
	}
	return files, nil
}
