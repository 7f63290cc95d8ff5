package runnertest

import (
	"math"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// capped checks that a turn with a cap ends after the request that uses up the cap, and
// that a complete answer is kept. Follow must read the same outcome from the turn's file,
// and the client must not keep running.
func (f Fixture) capped(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		end    runner.End
		text   string
		calls  int
		usd    float64
	}{
		"below":             {"@cost 0.25\n@write a.txt x\n@say ready", runner.Done, "ready", 1, 0.25},
		"a complete answer": {"@cost 0.75\n@say ready", runner.Done, "ready", 0, 0.75},
		"more to do":        {"@cost 0.75\n@write a.txt x\n@write b.txt x\n@say ready", runner.CapReached, "", 1, 0.75},
		"exactly":           {"@cost 0.5\n@write a.txt x\n@say ready", runner.CapReached, "", 1, 0.5},
	} {
		beside(t, name, func(t *testing.T) {
			turn := f.Turn(t, c.script)
			turn.CapUSD, turn.Permit = 0.5, permits("edit")
			b := f.Backend
			var out runner.Outcome
			if r, ok := b.(runner.Resident); ok {
				var warm runner.Warm
				if out, warm = r.Serve(t.Context(), turn, nil); warm != nil {
					warm.Close(t.Context())
					t.Error("a client with a cap stays")
				}
			} else {
				out = b.Run(t.Context(), turn)
			}
			f.check(t, turn, out)
			if out.End != c.end || c.end.OK() && out.Text != c.text || out.ToolCalls != c.calls || math.Abs(out.CostUSD-c.usd) > 1e-9 || out.CostUnknown {
				t.Errorf("ended %s (%s) with %q after %d calls for %v USD (unknown: %v), want %s with %q after %d for %v",
					out.End, out.Reason, out.Text, out.ToolCalls, out.CostUSD, out.CostUnknown, c.end, c.text, c.calls, c.usd)
			}
			dead := runner.Process{PID: 1 << 30, Start: 1}
			again := b.Follow(t.Context(), turn, dead)
			if again.End != out.End || again.Text != out.Text || again.CostUSD != out.CostUSD || again.CostUnknown {
				t.Errorf("Follow = %s (%s) with %q for %v USD, want what the turn was", again.End, again.Reason, again.Text, again.CostUSD)
			}
		})
	}
	// The cap applies to the turn, not to the session.
	turn := f.Turn(t, "@cost 0.375\n@say one")
	turn.CapUSD = 0.5
	out := f.run(t, t.Context(), turn)
	turn = further(turn, out, "@cost 0.375\n@write a.txt x\n@say two")
	turn.CapUSD = 0.5
	if out := f.run(t, t.Context(), turn); out.End != runner.Done || out.Text != "two" || math.Abs(out.CostUSD-0.375) > 1e-9 {
		t.Errorf("the next turn of the session ended %s (%s) for %v USD", out.End, out.Reason, out.CostUSD)
	}
}
