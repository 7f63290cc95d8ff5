package claudeswarm_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	claudeswarm "github.com/claude-swarm/claude-swarm"
)

func TestEveryLineIsComplete(t *testing.T) {
	version := regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	var names []string
	for _, c := range claudeswarm.Clients() {
		names = append(names, c.Name)
		if !version.MatchString(c.Oldest) || !version.MatchString(c.Newest) {
			t.Errorf("%s: the versions are %q and %q", c.Name, c.Oldest, c.Newest)
		}
		if _, err := time.Parse(time.DateOnly, c.Published); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if found, ok := claudeswarm.Find(c.Name); !ok || found != c {
			t.Errorf("Find(%q) = %+v, %v", c.Name, found, ok)
		}
	}
	if !slices.Contains(names, "claude") || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("the names are %q", names)
	}
	if c, ok := claudeswarm.Find("acp"); ok {
		t.Errorf("Find finds %+v, which is not in the file", c)
	}
}

func TestParse(t *testing.T) {
	got, err := claudeswarm.Parse("# name …\n\n a  @b/c  d  1.0.0  1.2.0  2026-11-24  -\nx y z 1 2 3 e@4.x\n")
	want := []claudeswarm.Client{
		{Name: "a", Package: "@b/c", Program: "d", Oldest: "1.0.0", Newest: "1.2.0", Published: "2026-11-24"},
		{Name: "x", Package: "y", Program: "z", Oldest: "1", Newest: "2", Published: "3", Brings: "e@4.x"},
	}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("Parse: %v\n%s", err, cmp.Diff(want, got))
	}
	if _, err := claudeswarm.Parse("a b c\n"); err == nil {
		t.Error("Parse accepts a line that is too short")
	}
}
