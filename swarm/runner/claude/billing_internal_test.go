package claude

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestBilling(t *testing.T) {
	for name, c := range map[string]struct {
		source, entry string
		want          runner.Billing
	}{
		"the client says nothing": {"", "ANTHROPIC_API_KEY=sk", runner.BillingUnknown},
		"a key":                   {"ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY=sk", runner.BillingAPI},
		"a helper":                {"apiKeyHelper", "", runner.BillingAPI},
		"a key of the console":    {"/login managed key", "", runner.BillingAPI},
		"a login":                 {"none", "", runner.BillingSubscription},
		"a login, by its name":    {"oauth", "", runner.BillingSubscription},
		"the token of a login":    {"none", "CLAUDE_CODE_OAUTH_TOKEN=x", runner.BillingSubscription},
		"a gateway":               {"none", "ANTHROPIC_AUTH_TOKEN=x", runner.BillingAPI},
		"an empty token":          {"none", "ANTHROPIC_AUTH_TOKEN=", runner.BillingSubscription},
		"a cloud":                 {"none", "CLAUDE_CODE_USE_BEDROCK=1", runner.BillingAPI},
		"no cloud":                {"none", "CLAUDE_CODE_USE_VERTEX=False", runner.BillingSubscription},
	} {
		if got := billing(c.source, []string{"PATH=/bin", c.entry}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
