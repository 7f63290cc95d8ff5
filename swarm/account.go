package swarm

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// accountVars decide whose account a client uses.
var accountVars = []string{"CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL"}

// accountOf names the account of a client by what would be in its environment:
// the inherited one, and what the agent's settings add. It is a hash, since the
// keys themselves must not get into files or logs.
func accountOf(environ []string, add map[string]string) string {
	h := sha256.New()
	for _, name := range accountVars {
		value := ""
		for _, kv := range environ {
			if k, v, ok := strings.Cut(kv, "="); ok && k == name {
				value = v
			}
		}
		if v, ok := add[name]; ok {
			value = v
		}
		h.Write([]byte(name + "=" + value + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}
