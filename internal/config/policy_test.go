package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Each rule can be relaxed separately.
func TestPolicyIsLoosened(t *testing.T) {
	f := parse(t, `
policy:
  allowed_types: [result, task]
  max_body_bytes: 0
  sender_per_min: 0
  thread_per_min: 0
  max_hops: 0
  max_returns: 0
  max_echoes: 0
  turns_per_hour: 0
  stop_sentinel: ""
  unproven: refuse
agents: {coder: }
`)
	want := config.Policy{AllowedTypes: []string{"result", "task"}, Unproven: "refuse"}
	if diff := cmp.Diff(want, f.Policy); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A role's entry applies to each agent that has the role, unless the agent has its own
// entry.
func TestACL(t *testing.T) {
	f := parse(t, `
policy:
  acl:
    planner: {publish: ["task.*", review.requested], subscribe: ["result.>"]}
    coder: {direct: [review, human, lead]}
    second: {direct: [], broadcast: false}
agents:
  boss: {role: planner}
  first: {role: coder}
  second: {role: coder}
  tester: {role: review}
  auditor: {role: review}
`)
	list := func(words ...string) *[]string {
		if words == nil {
			words = []string{}
		}
		return &words
	}
	want := map[string]config.Access{
		"boss":   {Publish: list("task.*", "review.requested"), Subscribe: list("result.>"), Broadcast: true},
		"first":  {Direct: list("auditor", "tester"), Broadcast: true},
		"second": {Direct: list()},
	}
	if diff := cmp.Diff(want, f.Policy.ACL); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
