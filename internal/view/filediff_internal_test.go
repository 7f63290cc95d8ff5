package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestFileDiffs(t *testing.T) {
	many := strings.Repeat("line\n", maxPatchLines+1)
	write := func(before, after string) runner.FileChange {
		return runner.FileChange{Path: "/p/f", Before: before, After: after}
	}
	created := func(after string) runner.FileChange {
		return runner.FileChange{Path: "/p/f", Created: true, After: after}
	}
	passage := func(before, after string) runner.FileChange {
		return runner.FileChange{Path: "/p/f", Before: before, After: after, Passage: true}
	}
	for name, c := range map[string]struct {
		changes []runner.FileChange
		want    FileDiff
	}{
		"two writes are joined": {
			[]runner.FileChange{write("a\nb\n", "a\nc\n"), write("a\nc\n", "a\nd\n")},
			FileDiff{Status: FileChanged, Added: 1, Deleted: 1, Writes: 2, Patches: []string{"--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+d\n"}},
		},
		"and taken back": {
			[]runner.FileChange{write("a\n", "b\n"), write("b\n", "a\n")},
			FileDiff{Status: FileChanged, Writes: 2, Note: "the same in the end"},
		},
		"something else writes in between": {
			[]runner.FileChange{write("a\n", "b\n"), write("c\n", "d\n")},
			FileDiff{
				Status: FileChanged, Added: 2, Deleted: 2, Writes: 2, Note: "something else has changed it between two writes",
				Patches: []string{"--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n", "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-c\n+d\n"},
			},
		},
		"a new file that is written again": {
			[]runner.FileChange{created("a\n"), created("b")},
			FileDiff{Status: FileNew, Added: 1, Writes: 2, Patches: []string{"--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+b\n\\ No newline at end of file\n"}},
		},
		"an empty new file": {[]runner.FileChange{created("")}, FileDiff{Status: FileNew, Writes: 1}},
		"a deleted file": {
			[]runner.FileChange{{Path: "/p/f", Before: "a\n", Deleted: true}},
			FileDiff{Status: FileDeleted, Deleted: 1, Writes: 1, Patches: []string{"--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"}},
		},
		"a passage": {
			[]runner.FileChange{passage("b\n", "c\n"), passage("x\n", "y\n")},
			FileDiff{
				Status: FileChanged, Added: 2, Deleted: 2, Writes: 2, Note: "the client does not tell which lines",
				Patches: []string{"--- a/f\n+++ b/f\n@@ somewhere in the file @@\n-b\n+c\n", "--- a/f\n+++ b/f\n@@ somewhere in the file @@\n-x\n+y\n"},
			},
		},
		"a passage of a known file": {
			[]runner.FileChange{created("a\nb\n"), passage("b\n", "c\n")},
			FileDiff{Status: FileNew, Added: 2, Writes: 2, Patches: []string{"--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+c\n"}},
		},
		"overwritten": {
			[]runner.FileChange{{Path: "/p/f", After: "a\n", Overwritten: true}},
			FileDiff{
				Status: FileWritten, Added: 1, Writes: 1, Note: "the client does not tell what was there before",
				Patches: []string{"--- a/f\n+++ b/f\n@@ -0,0 +1,1 @@\n+a\n"},
			},
		},
		"binary":   {[]runner.FileChange{write("a\x00", "b\x00")}, FileDiff{Status: FileChanged, Writes: 1, Binary: true, Note: "binary"}},
		"untold":   {[]runner.FileChange{{Path: "/p/f", Untold: runner.NotReported}}, FileDiff{Status: FileChanged, Writes: 1, Note: string(runner.NotReported)}},
		"too long": {[]runner.FileChange{created(many)}, FileDiff{Status: FileNew, Added: maxPatchLines + 1, Writes: 1, Note: "too long to show: 2004 lines"}},
		"a secret": {
			[]runner.FileChange{created("key SECRET\n")},
			FileDiff{Status: FileNew, Added: 1, Writes: 1, Patches: []string{"--- /dev/null\n+++ b/f\n@@ -0,0 +1,1 @@\n+key [hidden]\n"}},
		},
	} {
		c.want.Path = "f"
		got := fileDiffs(c.changes, placeIn("/p"), func(s string) string { return strings.ReplaceAll(s, "SECRET", "[hidden]") }, false)
		if len(got) != 1 {
			t.Errorf("%s: %d files", name, len(got))
		} else if d := cmp.Diff(c.want, got[0]); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
	if got := fileDiffs([]runner.FileChange{created(many)}, placeIn("/p"), strings.Clone, true); len(got[0].Patches) != 1 || got[0].Note != "" {
		t.Errorf("in full: %d patches, %q", len(got[0].Patches), got[0].Note)
	}
}

func TestPlaceIn(t *testing.T) {
	got := make([]string, 0, 5)
	for _, path := range []string{"/p/a/b", "/p/../x", "/px/a", "c/./d", "/p"} {
		got = append(got, placeIn("/p")(path))
	}
	if want := []string{"a/b", "/x", "/px/a", "c/d", "."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
