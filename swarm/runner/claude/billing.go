package claude

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The apiKeySource field of the init line reports which credentials the client uses. It is
// "none" for a claude.ai login or its token, for ANTHROPIC_AUTH_TOKEN, and for a cloud
// account. Otherwise it is the source of the key, such as ANTHROPIC_API_KEY or
// apiKeyHelper.

// paid lists the variables that indicate pay-per-token billing for a client without an
// API key: the token for a gateway, and the switches for cloud providers.
var paid = []string{"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}

// billing returns how the use of a client with this apiKeySource and this environment is
// billed.
func billing(source string, env []string) runner.Billing {
	switch {
	case source == "":
		return runner.BillingUnknown
	case source != "none" && source != "oauth":
		return runner.BillingAPI
	case slices.ContainsFunc(env, isPaid):
		return runner.BillingAPI
	}
	return runner.BillingSubscription
}

// isPaid reports whether an environment entry sets one of the variables in paid to a
// value that does not mean false.
func isPaid(entry string) bool {
	name, value, _ := strings.Cut(entry, "=")
	return slices.Contains(paid, name) && !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}
