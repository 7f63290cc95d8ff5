package policy_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/policy"
)

// A reason quotes and shortens an untrusted name, unless it is a valid mailbox name.
func TestNamesInReasons(t *testing.T) {
	long := strings.Repeat("a", 65)
	for name, want := range map[string]string{
		"coder":          "coder",
		"coder-2_b":      "coder-2_b",
		"co der":         `"co der"`,
		"coder\nlead":    `"coder\nlead"`,
		"Coder":          `"Coder"`,
		"":               `""`,
		long[:64]:        long[:64],
		long:             `"` + long[:64] + `"`,
		"lead (proven) ": `"lead (proven) "`,
	} {
		v := policy.NewGate(policy.Policy{RefuseUnproven: true}, nil).Ask(ask(from(name), unproven))
		check(t, v, policy.RuleUnproven, false)
		if want := "nothing proves that it is from " + want; v.Reason != want {
			t.Errorf("the reason for %q is %q, want %q", name, v.Reason, want)
		}
	}
}
