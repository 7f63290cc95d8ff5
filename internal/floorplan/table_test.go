package floorplan_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// The manual shows the current plan: every package and the packages that it may import.
func TestTheManualShowsThePlan(t *testing.T) {
	page, err := os.ReadFile("../../docs/dev/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| package | what it is | may import of ours |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	told := map[string]bool{}
	for row := range strings.Lines(table) {
		cells := strings.Split(strings.TrimSpace(row), " | ")
		if len(cells) != 3 {
			continue
		}
		imports := shortNames(cells[2])
		for _, m := range quoted.FindAllStringSubmatch(cells[0], -1) {
			name := m[1]
			told[name] = true
			allowed, ok := floors[name]
			if !ok {
				t.Errorf("architecture.md has a row for %s, which is not a package", name)
			}
			if strings.Contains(cells[2], "everything") || strings.Contains(cells[2], "what is below") {
				continue
			}
			var want []string
			for _, a := range allowed {
				want = append(want, strings.TrimPrefix(a, "internal/"))
			}
			slices.Sort(want)
			if !slices.Equal(imports, want) {
				t.Errorf("architecture.md says that %s may import %q, the plan says %q", name, imports, want)
			}
		}
	}
	for name := range floors {
		if !told[name] {
			t.Errorf("architecture.md has no row for %s", name)
		}
	}
}

// shortNames returns the packages in a table cell, sorted and without internal/.
func shortNames(cell string) []string {
	var names []string
	for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
		names = append(names, strings.TrimPrefix(m[1], "internal/"))
	}
	slices.Sort(names)
	return names
}
