package claude

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Unless the user's settings specify another time, the client tries to connect to our
// server for as long as the proof waits.
func TestTheClientConnectsAsLongAsTheProofWaits(t *testing.T) {
	for name, c := range map[string]struct{ env, want []string }{
		"nothing set": {nil, []string{"CLAUDE_CODE_MAX_RETRIES=10", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "MCP_TIMEOUT=120000", "CLAUDE_CODE_MCP_STARTUP_WAIT_MS=30000"}},
		"timeout set": {[]string{"MCP_TIMEOUT=5000"},
			[]string{"MCP_TIMEOUT=5000", "CLAUDE_CODE_MAX_RETRIES=10", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_MCP_STARTUP_WAIT_MS=30000"}},
		"wait set": {[]string{"CLAUDE_CODE_MCP_STARTUP_WAIT_MS=1"},
			[]string{"CLAUDE_CODE_MCP_STARTUP_WAIT_MS=1", "CLAUDE_CODE_MAX_RETRIES=10", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "MCP_TIMEOUT=120000"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := environment(runner.Turn{Env: c.env, Spec: runner.Spec{Background: true}})
			if diff := cmp.Diff(c.want, slices.Clip(got)); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}
