package claude_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// A client that has reached its cap is terminated immediately, because the work that it
// has begun would keep spending. Any other client has Timing.Close to exit, which is so
// long here that only SIGTERM can end this client.
func TestAClientThatReachedItsCapIsEnded(t *testing.T) {
	t.Parallel()
	turn := newTurn(t, "@linger 10m\n@cost 0.75\n@sh (sleep 1000 & echo $! >pid)\n@say ready")
	turn.CapUSD = 0.5
	timing := short
	timing.Close, timing.Terminate = time.Hour, time.Hour
	out := claude.New(claude.Options{Timing: timing}).Run(t.Context(), turn)
	if out.End != runner.CapReached || out.CostUnknown {
		t.Errorf("ended %s (%s) for %v USD", out.End, out.Reason, out.CostUSD)
	}
	if out.ExitCode != 143 {
		t.Errorf("the client ended with %+v, want the status that it has after SIGTERM, 143", out.Exit)
	}
	if pid, err := os.ReadFile(filepath.Join(turn.Spec.Dir, "pid")); err != nil || len(runner.Leftovers(turn.Mark())) > 0 {
		t.Errorf("its command %s still runs, or never ran: %v", pid, err)
	}
}

// A message that arrives when a turn reaches its cap does not count as answered.
func TestAMessageAtTheCap(t *testing.T) {
	turn := newTurn(t, "@cost 0.75\n@sh while ! test -e go; do sleep 0.01; done\n@say ready")
	turn.CapUSD = 0.5
	said := false
	wake := make(chan struct{}, 1)
	wake <- struct{}{}
	turn.Steering = &runner.Steering{Wake: wake, Next: func() (runner.Steer, bool) {
		if said {
			return runner.Steer{}, false
		}
		said = true
		if err := os.WriteFile(filepath.Join(turn.Spec.Dir, "go"), nil, 0o600); err != nil {
			t.Error(err)
		}
		return runner.Steer{UUID: "4f1c2f1e-0000-4000-8000-000000000001", Prompt: "@say also"}, true
	}}
	out := claude.New(claude.Options{}).Run(t.Context(), turn)
	if out.End != runner.CapReached || len(out.Steered) > 0 || !said {
		t.Errorf("ended %s (%s), answered %v, brought: %v", out.End, out.Reason, out.Steered, said)
	}
}

// A cap that is not reached changes nothing: the turn is done, and its cost is known.
func TestATurnBelowItsCapIsDone(t *testing.T) {
	t.Parallel()
	turn := newTurn(t, "@cost 0.25\n@say ready")
	turn.CapUSD = 0.5
	out := claude.New(claude.Options{}).Run(t.Context(), turn)
	if out.End != runner.Done || out.Text != "ready" || out.CostUSD != 0.25 || out.CostUnknown {
		t.Errorf("ended %s (%s) with %q for %v USD, unknown: %v", out.End, out.Reason, out.Text, out.CostUSD, out.CostUnknown)
	}
}
