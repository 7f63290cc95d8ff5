//go:build linux

package main

import (
	"context"
	"testing"
)

// The breaker opens after the last strike. The messages behind it are still done,
// because the simulated person acts until all messages are settled.
func TestAPersonActsUntilAllIsSettled(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the rig")
	}
	t.Parallel()
	a, err := ours.newArena(t.Context(), arenaSpec{agents: 1, defaults: "  max_failures: 1\n"})
	if err != nil {
		t.Fatal(err)
	}
	talk := traffic{messages: 12, script: func(n int) string {
		if n < 8 {
			return "@say begun\n@exit 9" // two consecutive failures of this kind open the breaker
		}
		return shortTurn(n)
	}}
	got, err := a.fight(t.Context(), 1, battle{traffic: talk, calm: 1, strike: func(context.Context, *counts) error { return nil }})
	if err != nil {
		t.Error(err)
	}
	if got.Lost != 0 || got.Left != 0 {
		t.Errorf("%d messages lost and %d files left, want none", got.Lost, got.Left)
	}
	if err := a.close(); err != nil {
		t.Error(err)
	}
}
