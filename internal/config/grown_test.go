package config_test

import (
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Grown returns a line for each right that grows, and for no other.
func TestGrown(t *testing.T) {
	for name, c := range map[string]struct {
		old, new string
		want     []string
	}{
		"nothing":                       {"agents: {coder: }", "agents: {coder: {role: writer}}", nil},
		"a cap that is raised":          {"agents: {coder: {budget: {day: 5}}}", "agents: {coder: {budget: {day: 500}}}", []string{"coder.budget.day 5 → 500"}},
		"a cap that goes":               {"agents: {coder: {budget: {day: {turns: 5, time: 2h}}}}", "agents: {coder: }", []string{"coder.budget.day.turns 5 → no limit", "coder.budget.day.time 2h0m0s → no limit"}},
		"a cap that is new":             {"agents: {coder: }", "agents: {coder: {budget: {day: 5, turn: 1}}}", nil},
		"a cap that is lowered":         {"budget: {swarm: {day: 9}, task: 4}\nagents: {coder: }", "budget: {swarm: {day: 5}, task: 3}\nagents: {coder: }", nil},
		"the caps of all":               {"budget: {swarm: {day: 9}, task: 4, agent: {turn: 1}}\nagents: {coder: }", "budget: {swarm: {day: 20.5}, task: null, agent: {turn: 2}}\nagents: {coder: }", []string{"budget.swarm.day 9 → 20.5", "budget.task 4 → no limit", "coder.budget.turn 1 → 2"}},
		"the limit on turns":            {"agents: {coder: }", "policy: {turns_per_hour: 0}\nagents: {coder: }", []string{"policy.turns_per_hour 120 → no limit"}},
		"tools that are added":          {"agents: {coder: {allowed_tools: [Read]}}", "agents: {coder: {allowed_tools: [Read, Bash, Write]}}", []string{"coder.allowed_tools + Bash, Write"}},
		"all tools":                     {"agents: {coder: {allowed_tools: [Read]}}", "agents: {coder: }", []string{"coder.allowed_tools Read → all"}},
		"tools that nobody knows":       {"agents: {coder: }", "agents: {coder: {allowed_tools: all}}", []string{"coder.allowed_tools null → all"}},
		"all tools, from a list":        {"agents: {coder: {allowed_tools: [Read]}}", "agents: {coder: {allowed_tools: [all]}}", []string{"coder.allowed_tools Read → all"}},
		"all tools, no more":            {"agents: {coder: {allowed_tools: all}}", "agents: {coder: }", nil},
		"fewer tools":                   {"agents: {coder: }", "agents: {coder: {allowed_tools: [Read], disallowed_tools: [Bash]}}", nil},
		"a tool that is not denied":     {"agents: {coder: {disallowed_tools: [Bash, Write]}}", "agents: {coder: {disallowed_tools: [Write]}}", []string{"coder.disallowed_tools - Bash"}},
		"a mode":                        {"agents: {coder: {permission_mode: plan}}", "agents: {coder: {permission_mode: bypassPermissions}}", []string{"coder.permission_mode plan → bypassPermissions"}},
		"a mode that changes nothing":   {"agents: {coder: {permission_mode: acceptEdits}}", "agents: {coder: {permission_mode: plan}}", nil},
		"permissions":                   {"agents: {coder: {backend: codex, permissions: {allow: [fetch], deny: [\"edit .env\"], otherwise: deny}}}", "agents: {coder: {backend: codex, permissions: {allow: [fetch, execute], otherwise: allow}}}", []string{"coder.permissions.allow + execute", "coder.permissions.deny - edit .env", "coder.permissions.otherwise deny → allow"}},
		"defaults":                      {"defaults: {allowed_tools: [Read]}\nagents: {a: , b: }", "defaults: {allowed_tools: [Bash, Read]}\nagents: {a: , b: }", []string{"a.allowed_tools + Bash", "b.allowed_tools + Bash"}},
		"a list of whom it may address": {"policy: {acl: {coder: {direct: [a], broadcast: false}}}\nagents: {coder: , a: , b: }", "agents: {coder: , a: , b: }", []string{"policy.acl.coder.direct a → all", "policy.acl.coder.broadcast false → true"}},
		"a list that is new":            {"agents: {coder: , a: }", "policy: {acl: {coder: {direct: [a]}}}\nagents: {coder: , a: }", nil},
		"files that may be changed":     {"agents: {coder: }", "policy: {editable: [.mcp.json]}\nagents: {coder: }", []string{"policy.editable + .mcp.json"}},
		"an agent":                      {"agents: {coder: }", "agents: {coder: , b: }", []string{"b: a new agent"}},
		"an agent that goes":            {"agents: {coder: , b: }", "agents: {coder: }", nil},
		"the lead":                      {"agents: {coder: }", "lead: coder\nagents: {coder: }", []string{"lead none → coder"}},
		"variables, without values":     {"agents: {coder: {env: {A: \"1\", B: \"2\"}}}", "agents: {coder: {env: {A: secret, B: \"2\", C: \"3\"}}}", []string{"coder.env + A, C"}},
		"a server of tools":             {"agents: {coder: }", "agents: {coder: {mcp_servers: {files: {command: files}}}}", []string{"coder.mcp_servers + files"}},
		"a person on IRC":               {"irc: {server: localhost}\nagents: {coder: }", "irc: {server: localhost, allow: [{nick: ann, may: [control]}]}\nagents: {coder: }", []string{"irc.allow + ann: control"}},
	} {
		t.Run(name, func(t *testing.T) {
			old, new := parse(t, c.old+"\n"), parse(t, c.new+"\n")
			if got := config.Grown(&old, &new); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if got := config.Grown(&new, &new); len(got) > 0 {
				t.Errorf("from itself: %q", got)
			}
		})
	}
}
