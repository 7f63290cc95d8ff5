package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// Four real clients share one daily budget and run at the same time. Each exceeds the cap
// by at most one request. After that, no turn begins, no matter how much mail is waiting.
func TestABudgetOfFourAgents(t *testing.T) {
	t.Parallel()
	scenario := `{"replies":[` + priced(`"name":"loop","times":-1,"delay_ms":50,`+bash("echo worked"), 50, 0, 0) + `],` + freeSide + `}`
	const request, most = 0.15, 2.0
	p := newProject(t, scenario, "  anna: {}\n  bert: {}\n  coder: {}\n  dora: {}\n")
	// The supervisor's rules are off because an agent can make the same call five times
	// before it reaches the cap, and the supervisor would then pause it.
	const alone = "supervisor: {rules: {same_call: 0, same_error: 0, steps_without_change: 0}}\n"
	p.write("claude-swarm.yaml", strings.Replace(p.read("claude-swarm.yaml"), "max_running: 2\n", fmt.Sprintf("max_running: 4\nbudget: {billing: api, swarm: {day: %v}}\n", most)+alone, 1))
	p.start()
	for range 2 {
		for _, agent := range []string{"anna", "bert", "coder", "dora"} {
			p.send(agent, "Work on it")
		}
	}
	p.until("all agents are parked", func() bool {
		parked := 0
		for _, a := range p.status().Agents {
			if a.State == swarm.Parked {
				parked++
			}
		}
		return parked == 4
	})
	own := p.spent(usageOf(t, scenario))
	if own < most-0.01 || own > most+4*request+1e-6 {
		t.Errorf("the API counts %.2f USD, want %v and at most four requests more", own, most)
	}
	for range 2 {
		p.send("coder", "Work on this too")
	}
	// The next daemon parks the agent when it has seen the mail. The earlier daemon ends
	// after the turns that it has begun.
	p.swarm("stop")
	p.start()
	p.untilState("coder", swarm.Parked)
	if later := p.spent(usageOf(t, scenario)); later != own {
		t.Errorf("%.2f USD were spent, and %.2f after the cap", own, later-own)
	}
	var report budget.Report
	out := p.swarm("budget", "--json")
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, row := range report.Scopes {
		if row.Scope == "swarm.day" && (math.Abs(row.Spent.USD-own) > 1e-6 || row.Reserved.USD != 0) {
			t.Errorf("the budget counts %v USD spent and %v reserved, the API %v", row.Spent.USD, row.Reserved.USD, own)
		}
	}
	for _, dead := range []string{"anna", "bert", "coder", "dora"} {
		if n := p.agent(dead).Dead; n > 0 {
			t.Errorf("%s has %d dead letters", dead, n)
		}
	}
	t.Logf("spent %.2f of %v USD", own, most)
}
