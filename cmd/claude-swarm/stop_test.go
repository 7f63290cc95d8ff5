package main

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

func TestAwaited(t *testing.T) {
	now := time.Now()
	st := swarm.Status{Agents: []swarm.AgentStatus{{Name: "coder"}}}
	if got, want := awaited(st, now, time.Minute), "the end: no turn is running"; got != want {
		t.Errorf("waiting for %q, want %q", got, want)
	}
	if got := awaited(st, now, time.Second); got != "" {
		t.Errorf("after a second: waiting for %q, want no word", got)
	}
	st.Agents[0].Message = &turn.MessageStatus{ID: "k7f3q9m2xd", Since: now.Add(-12 * time.Second)}
	if got, want := awaited(st, now, time.Second), "coder (k7f3q9m2xd, 12 s)"; got != want {
		t.Errorf("waiting for %q, want %q", got, want)
	}
}
