package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
