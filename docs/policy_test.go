package docs_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/policy"
)

// The policy page must list the rules in the order in which they are evaluated.
func TestPolicyPage(t *testing.T) {
	page := read(t, "policy.md")
	var told []policy.Rule
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| .* \\|( yes)? \\|$").FindAllStringSubmatch(page, -1) {
		if r := policy.Rule(m[1]); slices.Contains(policy.Rules(), r) {
			told = append(told, r)
		}
	}
	if !slices.Equal(told, policy.Rules()) {
		t.Errorf("the page lists %q, the rules are %q", told, policy.Rules())
	}
}
