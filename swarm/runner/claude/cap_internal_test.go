package claude

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The lower of the turn's cap and the command's cap must apply even though the client
// uses the last flag. The client refuses to start with a cap of 0.
func TestTheCapOfATurn(t *testing.T) {
	for name, c := range map[string]struct {
		usd     float64
		command string
		want    string
	}{
		"none":                         {0, "claude", ""},
		"negative":                     {-1, "claude", ""},
		"a cap":                        {0.5, "claude", "0.5"},
		"no rounding":                  {1.2345678, "claude", "1.2345678"},
		"large":                        {1e7, "claude", "10000000"},
		"below a cent":                 {0.004, "claude", "0.01"},
		"a larger one in the command":  {0.5, "claude --max-budget-usd 2", "0.5"},
		"a smaller one in the command": {0.5, "claude --max-budget-usd 0.2", ""},
		"the same":                     {0.5, "claude --max-budget-usd=0.5", ""},
		"the last one counts":          {0.5, "claude --max-budget-usd=0.2 --max-budget-usd 2", "0.5"},
		"none after all":               {0.5, "claude --max-budget-usd", "0.5"},
		"not a number":                 {0.5, "claude --max-budget-usd=much", "0.5"},
	} {
		args := arguments(runner.Turn{CapUSD: c.usd, Spec: runner.Spec{Command: strings.Fields(c.command)}})
		if got := strings.Join(after(args, capFlag), " "); got != c.want {
			t.Errorf("%s: the flag is %q, want %q", name, got, c.want)
		}
	}
}
