package view_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func TestHoldupOf(t *testing.T) {
	for name, tc := range map[string]struct {
		agent                  swarm.AgentStatus
		held, resting, lasting bool
	}{
		"idle":                  {agent: swarm.AgentStatus{State: swarm.Idle, Next: "claude-swarm dead list coder"}},
		"queued":                {agent: swarm.AgentStatus{State: swarm.Queued, Why: "all places are taken"}},
		"starting":              {agent: swarm.AgentStatus{State: swarm.Starting}},
		"working":               {agent: swarm.AgentStatus{State: swarm.Working, Why: "asks the API again"}},
		"working, then paused":  {swarm.AgentStatus{State: swarm.Working, Why: "paused after this turn", Next: "claude-swarm resume coder"}, true, false, false},
		"asking":                {swarm.AgentStatus{State: swarm.Asking, Why: "asks lead", Next: "claude-swarm reply k7f3q9m2xd"}, true, false, false},
		"attached":              {agent: swarm.AgentStatus{State: swarm.Away}},
		"attached to nothing":   {swarm.AgentStatus{State: swarm.Away, Next: "claude-swarm attach coder"}, true, false, false},
		"after a failure":       {swarm.AgentStatus{State: swarm.Backoff}, true, true, false},
		"at the limit":          {swarm.AgentStatus{State: swarm.Limited, Why: "usage limit"}, true, true, true},
		"outside its hours":     {swarm.AgentStatus{State: swarm.Off, Why: "outside its hours", Next: "begins again at 08:00:00"}, true, true, true},
		"paused":                {swarm.AgentStatus{State: swarm.Paused, Why: "by lead", Next: "claude-swarm resume coder"}, true, true, true},
		"stopped, unknown why":  {swarm.AgentStatus{State: swarm.Stopped}, true, true, true},
		"a state of the future": {agent: swarm.AgentStatus{State: "dreaming", Next: "claude-swarm wake"}},
	} {
		t.Run(name, func(t *testing.T) {
			tc.agent.Name = "coder"
			var want *view.Holdup
			if tc.held {
				want = &view.Holdup{Agent: "coder", State: tc.agent.State, Why: tc.agent.Why, Next: tc.agent.Next}
			}
			got := view.HoldupOf(tc.agent)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("HoldupOf (-want +got):\n%s", diff)
			}
			if got != nil && (got.Resting() != tc.resting || got.Lasting() != tc.lasting) {
				t.Errorf("resting %t, lasting %t; want %t, %t", got.Resting(), got.Lasting(), tc.resting, tc.lasting)
			}
		})
	}
}
