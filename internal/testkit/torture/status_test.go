//go:build linux

package main

import (
	"encoding/json"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// The status is complete even with more agents than fit in one line of the protocol.
func TestTheStatusOfFiveThousandAgents(t *testing.T) {
	if testing.Short() {
		t.Skip("runs in the machine that is tortured")
	}
	a, err := ours.newArena(t.Context(), arenaSpec{agents: 5000})
	if err != nil {
		t.Fatal(err)
	}
	defer a.close()
	if err := a.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	out, err := a.swarm(t.Context(), "status", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var st swarm.Status
	if err := json.Unmarshal([]byte(out), &st); err != nil || len(st.Agents) != 5000 {
		t.Errorf("%d agents (%v), want 5,000", len(st.Agents), err)
	}
	if err := a.stop(t.Context()); err != nil {
		t.Error(err)
	}
}
