package claude_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

func TestAgainst(t *testing.T) {
	i := strings.LastIndex(claude.Newest, ".") + 1
	patch, err := strconv.Atoi(claude.Newest[i:])
	if err != nil {
		t.Fatal(err)
	}
	newer := claude.Newest[:i] + strconv.Itoa(patch+1)
	for version, want := range map[string]int{
		claude.Oldest: 0, claude.Newest: 0, "2.1.200": 0,
		"2.1.200-beta.1": 0, claude.Oldest + "-beta": 0, claude.Newest + "-beta.1": 0, claude.Newest + "beta": 0, "2.1.196-beta.1": -1, "beta": -1, newer + "-beta.1": 1,
		"2.1.196": -1, "2.1.99": -1, "2.0.999": -1, "1.9.300": -1, "2.1": -1, "": -1,
		newer: 1, "2.1.1000": 1, "2.2.0": 1, "3.0.1": 1, "10.0": 1, claude.Newest + ".1": 1,
	} {
		if got := claude.Against(version); got != want {
			t.Errorf("Against(%q) = %d, want %d", version, got, want)
		}
	}
}
