package view_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

func TestProgressAndCost(t *testing.T) {
	for _, c := range []struct {
		turn *turn.Progress
		text string
		now  journal.Cost
	}{
		{nil, "", journal.Cost{Today: 0.1, Total: 1}},
		{&turn.Progress{}, "", journal.Cost{Today: 0.1, Total: 1}},
		{&turn.Progress{Steps: 1}, "1 step so far", journal.Cost{Today: 0.1, Total: 1}},
		{&turn.Progress{Steps: 170, CostUSD: new(0.42)}, "170 steps, ≥ 0.42 USD so far", journal.Cost{Today: 0.52, Total: 1.42, TodayUnknown: 1, TotalUnknown: 1}},
		{&turn.Progress{Steps: 2, CostUSD: new(0.0042)}, "2 steps, ≥ 0.0042 USD so far", journal.Cost{Today: 0.1042, Total: 1.0042, TodayUnknown: 1, TotalUnknown: 1}},
	} {
		a := swarm.AgentStatus{Name: "coder", CostUSD: journal.Cost{Today: 0.1, Total: 1}, Turn: c.turn}
		if got := view.ProgressOf(a); got != c.text {
			t.Errorf("%+v: %q, want %q", c.turn, got, c.text)
		}
		if got := view.CostNow(a); got != c.now {
			t.Errorf("%+v: %+v, want %+v", c.turn, got, c.now)
		}
		if got, want := len(view.RunningTurns([]swarm.AgentStatus{a})), map[bool]int{true: 1}[c.turn != nil]; got != want {
			t.Errorf("%+v: %d running turns, want %d", c.turn, got, want)
		}
	}
}
