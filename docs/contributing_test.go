package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The functions listed in CONTRIBUTING.md, which process a message up to its receipt, exist
// in this tree.
func TestTheCallsOfAMessage(t *testing.T) {
	_, table, ok := strings.Cut(read(t, "../CONTRIBUTING.md"), "| process | calls |\n")
	table, _, end := strings.Cut(table, "\n\n")
	if !ok || !end {
		t.Fatal("CONTRIBUTING.md has no table of calls")
	}
	source := productSource(t)
	call := regexp.MustCompile("`([\\w.]+)`")
	found := 0
	for _, row := range strings.Split(table, "\n")[1:] {
		calls := strings.Split(row, " | ")
		for _, m := range call.FindAllStringSubmatch(calls[len(calls)-1], -1) {
			found++
			name := strings.Split(m[1], ".")
			want := `\nfunc (\(.*\) )?` + name[len(name)-1] + `\(`
			if len(name) > 1 {
				want = `\nfunc \(\w+ \*?` + strings.Join(name[max(0, len(name)-2):], `\) `) + `\(`
			}
			if !regexp.MustCompile(want).MatchString(source) {
				t.Errorf("CONTRIBUTING.md names the call %s, which does not exist", m[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("found %d calls in CONTRIBUTING.md", found)
	}
}

// productSource returns the Go source of the product as a single string.
func productSource(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "testkit") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// CONTRIBUTING shows some lines of the output of `make test`: packages that exist, and the
// counts at the end.
func TestContributingShowsTheTests(t *testing.T) {
	_, shown, ok := strings.Cut(read(t, "../CONTRIBUTING.md"), "```text\nok ")
	shown, _, end := strings.Cut("ok "+shown, "```")
	if !ok || !end {
		t.Fatal("CONTRIBUTING.md does not show the output of make test")
	}
	lines := strings.Split(strings.TrimSpace(shown), "\n")
	packages, elided := 0, false
	for _, line := range lines[:len(lines)-1] {
		words := strings.Fields(line)
		switch {
		case line == "…":
			elided = true
		case len(words) == 4 && words[0] == "ok" && words[3] == "s":
			packages++
			if found, err := filepath.Glob(filepath.Join("..", words[1], "*_test.go")); err != nil || len(found) == 0 {
				t.Errorf("CONTRIBUTING.md shows the tests of %s, which has none: %v", words[1], err)
			}
		case line != "" && !strings.HasPrefix(line, "not run: "):
			t.Errorf("make test does not print %q, which CONTRIBUTING.md shows", line)
		}
	}
	if packages == 0 || !elided || !regexp.MustCompile(`^\d+ passed, 0 failed, \d+ skipped$`).MatchString(lines[len(lines)-1]) {
		t.Errorf("CONTRIBUTING.md shows %d packages, leaves lines out: %v, and ends with %q", packages, elided, lines[len(lines)-1])
	}
}

// The README begins with what the program is for, and then shows the program, its
// installation and the most important verbs.
func TestReadmeBeginsWithWhatANewcomerNeeds(t *testing.T) {
	var heads []string
	for line := range strings.Lines(read(t, "../README.md")) {
		if head, ok := strings.CutPrefix(line, "## "); ok {
			heads = append(heads, strings.TrimSpace(head))
		}
	}
	want := []string{"See it work", "Install", "Five verbs"}
	if len(heads) < len(want) || !slices.Equal(heads[:len(want)], want) {
		t.Errorf("README.md has the parts %q, want it to begin with %q", heads, want)
	}
}

// Each recipe in CONTRIBUTING.md shows the diff of a real addition: the lines of each file
// stand in that file, in this order. A line "…" stands for lines that are left out.
func TestRecipes(t *testing.T) {
	_, recipes, ok := strings.Cut(read(t, "../CONTRIBUTING.md"), "\n## Recipes\n")
	if !ok {
		t.Fatal("CONTRIBUTING.md has no recipes")
	}
	recipes, _, _ = strings.Cut(recipes, "\n## ")
	for _, recipe := range strings.Split(recipes, "\n### ")[1:] {
		title, text, _ := strings.Cut(recipe, "\n")
		_, diff, ok := strings.Cut(text, "```diff\n")
		diff, _, end := strings.Cut(diff, "\n```")
		if !ok || !end {
			t.Errorf("the recipe %q has no diff", title)
			continue
		}
		var file, rest string
		for line := range strings.Lines(diff) {
			line = strings.TrimRight(line, "\n")
			if path, ok := strings.CutPrefix(line, "+++ "); ok {
				file, rest = path, read(t, "../"+path)
				continue
			}
			want := strings.TrimSpace(strings.TrimPrefix(line, "+"))
			if strings.HasPrefix(line, "-") {
				continue // the line that the addition replaced
			}
			if want == "…" || want == "" {
				continue
			}
			found := false
			for !found && rest != "" {
				var next string
				next, rest, _ = strings.Cut(rest, "\n")
				found = strings.TrimSpace(next) == want
			}
			if !found {
				t.Errorf("the recipe %q: %s does not contain this line, or not after the line above it:\n%s", title, file, want)
				break
			}
		}
	}
}
