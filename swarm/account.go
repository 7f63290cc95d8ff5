package swarm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// accountVars decide whose account a client uses.
var accountVars = []string{"CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"}

// accountOf names the account of a client by what will be in its environment:
// the inherited one, less and with what the agent's settings take out and add.
// It is a hash, since the keys themselves must not get into files or logs.
func accountOf(environ []string, spec Spec) string {
	decisive := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(accountVars, name)
	})
	h := sha256.New()
	env := runner.Environ(decisive, runner.EnvOptions{Drop: spec.EnvDrop, Add: spec.Env})
	for _, name := range accountVars {
		value := ""
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				value = v
			}
		}
		h.Write([]byte(name + "=" + value + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
