package claude_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// While a turn runs, the client tells what the turn has cost so far. The turn ends only
// after that, because its second command waits for a file that the report creates. In a
// resumed session, whose total includes earlier turns, no report exceeds the turn's own
// cost. A turn for which nobody asks gets no question.
func TestTheCostOfARunningTurn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only ends a turn that hangs
	defer cancel()
	turn := newTurn(t, "@sh true\n@sh while ! test -e go; do sleep 0.01; done\n@say ready")
	var reports []float64
	turn.Spent = func(usd float64) {
		reports = append(reports, usd)
		if err := os.WriteFile(filepath.Join(turn.Spec.Dir, "go"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	out := backend().Run(ctx, turn)
	if out.End != runner.Done || len(reports) < 2 {
		t.Fatalf("ended %s (%s) after %d reports", out.End, out.Reason, len(reports))
	}
	if first, last := reports[0], reports[len(reports)-1]; first <= 0 || first >= out.CostUSD || last != out.CostUSD {
		t.Errorf("reports %v, the turn cost %v", reports, out.CostUSD)
	}

	next := newTurn(t, "@sh true\n@say ready")
	next.Spec.Dir, next.Env, next.Session = turn.Spec.Dir, turn.Env, runner.Session{ID: turn.Session.ID, How: runner.Resume}
	reports = nil
	next.Spent = func(usd float64) { reports = append(reports, usd) }
	out = backend().Run(ctx, next)
	if out.End != runner.Done || len(reports) == 0 {
		t.Fatalf("ended %s (%s) after %d reports", out.End, out.Reason, len(reports))
	}
	for _, usd := range reports {
		if usd > out.CostUSD {
			t.Errorf("reports %v, the turn cost %v", reports, out.CostUSD)
		}
	}
}
