package claude

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The init line's apiKeySource says which credential the client uses. It is "none" for a
// login of claude.ai, its token, ANTHROPIC_AUTH_TOKEN, and a cloud's account. Otherwise it
// is the source of the key, such as ANTHROPIC_API_KEY or apiKeyHelper.

// paid lists the variables that make a client without an API key pay for each token: a
// gateway's token, and the switches for the clouds.
var paid = []string{"ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}

// billing returns how a client with this apiKeySource and this environment pays.
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

// isPaid reports whether an entry of an environment sets a variable of paid, to a value
// that is neither empty nor a word for no.
func isPaid(entry string) bool {
	name, value, _ := strings.Cut(entry, "=")
	return slices.Contains(paid, name) && !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
}
