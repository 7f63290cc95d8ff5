package main

import (
	"io"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

func TestTalkOver(t *testing.T) {
	proposed := provision.Proposal{Installed: backends.Kinds()[:1], Agents: []provision.Proposed{{Name: "coder"}, {Name: "fix", Dir: "../fix", Why: "work tree of fix"}}}
	for name, c := range map[string]struct{ typed, agents, said string }{
		"agreed":         {"\n", "coder fix ", "../fix  (work tree of fix)"},
		"yes":            {"Yes\n", "coder fix ", "Create these?"},
		"no":             {"n\n", "", "Create these?"},
		"NO":             {"NO\n", "", "Create these?"},
		"quit":           {"quit\n", "", "Create these?"},
		"changed":        {"one two=sub\n", "one two ", "Found claude."},
		"a bad name":     {"One\n\n", "coder fix ", "One: "},
		"no answer":      {"", "", "Create these?"},
		"no end of line": {"solo", "solo ", "Create these?"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			p, err := talkOver(strings.NewReader(c.typed), &said, proposed)
			if (err != nil) != (c.agents == "") {
				t.Fatalf("error %v", err)
			}
			agents := ""
			for _, a := range p.Agents {
				agents += a.Name + " "
			}
			if err == nil && agents != c.agents || !strings.Contains(said.String(), c.said) {
				t.Errorf("agents %q after\n%s\nwant %q and %q said", agents, said.String(), c.agents, c.said)
			}
		})
	}
	if _, err := talkOver(strings.NewReader(""), io.Discard, provision.Proposal{}); err == nil {
		t.Error("an empty input was taken for an answer")
	}
}
