package view

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A FileDiff is what one turn changed in one file.
type FileDiff struct {
	Path string `json:"path"` // relative to the project if the file is in it
	// Status is new, changed, deleted, or written if it is not known what was there before.
	Status  string `json:"status"`
	Added   int    `json:"added"` // lines, as far as they are known
	Deleted int    `json:"deleted"`
	Writes  int    `json:"writes"` // how many times the turn has written it; 0 if git tells the change
	Binary  bool   `json:"binary,omitempty"`
	// Patches are unified diffs. There are several if something else has changed the file
	// between two writes, or if it is not known which lines were written. There are none for
	// a binary file, for one with too many lines, and if the client does not tell the change.
	Patches []string `json:"patches,omitempty"`
	Note    string   `json:"note,omitempty"` // says what is missing or unusual
}

// These are the statuses.
const (
	FileNew     = "new"
	FileChanged = "changed"
	FileDeleted = "deleted"
	FileWritten = "written"
)

// maxPatchLines is the maximum number of lines of a file's patches, unless all are asked for.
const maxPatchLines = 2000

// fileDiffs returns the changes of a turn by file, in the order of the first writes. hide
// removes secrets from text, and place returns a path as people see it.
func fileDiffs(changes []runner.FileChange, place, hide func(string) string, full bool) []FileDiff {
	var order []string
	by := map[string][]runner.FileChange{}
	for _, c := range changes {
		c.Path, c.Before, c.After = hide(place(c.Path)), hide(c.Before), hide(c.After)
		if by[c.Path] == nil {
			order = append(order, c.Path)
		}
		by[c.Path] = append(by[c.Path], c)
	}
	files := []FileDiff{}
	for _, path := range order {
		files = append(files, fileDiff(path, by[path], full))
	}
	return files
}

func fileDiff(path string, changes []runner.FileChange, full bool) FileDiff {
	steps := joined(changes)
	first, last := steps[0], steps[len(steps)-1]
	f := FileDiff{Path: path, Writes: len(changes), Status: FileChanged}
	switch {
	case last.Deleted:
		f.Status = FileDeleted
	case first.Created:
		f.Status = FileNew
	case first.Overwritten:
		f.Status = FileWritten
	}
	var notes []string
	note := func(text string) {
		if !slices.Contains(notes, text) {
			notes = append(notes, text)
		}
	}
	for i, s := range steps {
		switch {
		case s.Untold != "":
			note(string(s.Untold))
			continue
		case strings.ContainsRune(s.Before, 0) || strings.ContainsRune(s.After, 0):
			f.Binary = true
			continue
		case s.Overwritten:
			note("the client does not tell what was there before")
		case s.Passage:
			note("the client does not tell which lines")
		}
		if i > 0 && !s.Passage && !steps[i-1].Passage {
			note("something else has changed it between two writes")
		}
		patch, added, deleted := unified(path, s)
		f.Added += added
		f.Deleted += deleted
		if patch != "" {
			f.Patches = append(f.Patches, patch)
		}
	}
	if f.Binary {
		note("binary")
	} else if len(f.Patches) == 0 && len(notes) == 0 && !first.Created && !last.Deleted {
		note("the same in the end")
	}
	f.limit(full, note)
	f.Note = strings.Join(notes, "; ")
	return f
}

// limit removes patches that are too long to show.
func (f *FileDiff) limit(full bool, note func(string)) {
	lines := 0
	for _, p := range f.Patches {
		lines += strings.Count(p, "\n")
	}
	if f.Binary {
		f.Patches = nil
	} else if lines > maxPatchLines && !full {
		f.Patches = nil
		note("too long to show: " + screen.Count(lines, "line"))
	}
}

// joined joins consecutive changes of one file where the second begins with what the first has
// left. The others stay apart, because something else has changed the file in between.
func joined(changes []runner.FileChange) []runner.FileChange {
	steps := []runner.FileChange{changes[0]}
	for _, next := range changes[1:] {
		last := &steps[len(steps)-1]
		whole := last.Untold == "" && !last.Passage
		switch {
		case next.Untold != "" || last.Untold != "":
			steps = append(steps, next)
		case whole && !next.Passage && (next.Overwritten || next.Created && !last.Deleted):
			last.After = next.After // whatever was there before, the file is now this
		case last.Passage == next.Passage && last.After == next.Before:
			last.After, last.Deleted = next.After, next.Deleted
		case whole && next.Passage && strings.Count(last.After, next.Before) == 1 && next.Before != "":
			last.After = strings.Replace(last.After, next.Before, next.After, 1)
		default:
			steps = append(steps, next)
		}
	}
	return steps
}

// hunkHead matches the first line of a hunk.
var hunkHead = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^@@ -[0-9,]+ \+[0-9,]+ @@$`) })

// unified returns a change as a unified diff, with the numbers of added and deleted lines.
func unified(path string, c runner.FileChange) (patch string, added, deleted int) {
	out := string(diff.Diff("a", []byte(c.Before), "b", []byte(c.After)))
	if out == "" {
		return "", 0, 0
	}
	hunks := strings.SplitN(out, "\n", 4)[3] // after the three lines that name the files
	for line := range strings.Lines(hunks) {
		switch line[0] {
		case '+':
			added++
		case '-':
			deleted++
		}
	}
	if c.Passage {
		hunks = hunkHead().ReplaceAllString(hunks, "@@ somewhere in the file @@")
	}
	from, to := "a/"+path, "b/"+path
	if c.Created {
		from = "/dev/null"
	}
	if c.Deleted {
		to = "/dev/null"
	}
	return fmt.Sprintf("--- %s\n+++ %s\n%s", from, to, hunks), added, deleted
}

// gitDiffs returns what git tells of a turn.
func gitDiffs(changes []git.FileDiff, hide func(string) string, full bool) []FileDiff {
	files := []FileDiff{}
	for _, c := range changes {
		f := FileDiff{Path: hide(c.Path), Added: c.Added, Deleted: c.Deleted, Binary: c.Binary, Patches: []string{hide(c.Patch)}, Status: FileChanged}
		switch c.Status {
		case 'A':
			f.Status = FileNew
		case 'D':
			f.Status = FileDeleted
		}
		if f.Binary {
			f.Note = "binary"
		}
		f.limit(full, func(text string) { f.Note = text })
		files = append(files, f)
	}
	return files
}

// placeIn returns a function that makes a path relative to a folder if it is in it.
func placeIn(dir string) func(string) string {
	return func(path string) string {
		if !filepath.IsAbs(path) {
			return filepath.Clean(path)
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return filepath.Clean(path)
		}
		return rel
	}
}
