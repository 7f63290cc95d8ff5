package turn

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// After a client has ended, the view contains no pid, even while the daemon is still
// filing the turn.
func TestNoProcessHasNoPID(t *testing.T) {
	v := new(View)
	v.process(7)
	if v.p.PID == nil || *v.p.PID != 7 {
		t.Fatalf("pid = %v, want 7", v.p.PID)
	}
	if v.process(0); v.p.PID != nil {
		t.Errorf("pid = %d, want none", *v.p.PID)
	}
}

// The limit of a model stays the same if the client uses a different name for the model
// in a resumed session. Each model has its own limit.
func TestLimitFor(t *testing.T) {
	said := func(v *View, model string, limit int, named bool) int {
		v.learn("", model, 0, 0)
		got := v.limitFor(limit, named)
		v.learn("", "", 0, got)
		return got
	}
	type turn struct {
		model string
		limit int
		named bool
		want  int
	}
	for name, turns := range map[string][]turn{
		"resumed":        {{"claude-opus-4-8[1m]", 1_000_000, false, 1_000_000}, {"claude-opus-4-8", 200_000, false, 1_000_000}, {"claude-opus-4-8", 0, false, 0}},
		"the other way":  {{"claude-opus-4-8", 200_000, false, 200_000}, {"claude-opus-4-8[1m]", 1_000_000, false, 1_000_000}},
		"another model":  {{"claude-opus-4-8[1m]", 1_000_000, false, 1_000_000}, {"claude-haiku-4-5", 200_000, false, 200_000}},
		"named by hand":  {{"claude-opus-4-8[1m]", 1_000_000, false, 1_000_000}, {"claude-opus-4-8", 200_000, true, 200_000}},
		"never said yet": {{"", 0, false, 0}, {"claude-opus-4-8", 200_000, false, 200_000}},
	} {
		v := &View{}
		for i, turn := range turns {
			if got := said(v, turn.model, turn.limit, turn.named); got != turn.want {
				t.Errorf("%s: after turn %d the limit is %d, want %d", name, i+1, got, turn.want)
			}
		}
	}
	// An earlier daemon has already recorded the limit.
	v := &View{}
	v.Recall(Recalled(journal.LedgerLine{Model: "claude-opus-4-8", Context: journal.Context{Tokens: 5_000, Limit: 1_000_000}}, 1))
	if got := said(v, "claude-opus-4-8", 200_000, false); got != 1_000_000 {
		t.Errorf("after a restart the limit is %d, want 1000000", got)
	}
}
