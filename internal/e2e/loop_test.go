package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// passers returns a scenario for a ring of agents in which each agent sends the next one a
// message in each of its first 20 turns. All the messages differ, so none of them is an
// echo.
func passers(ring []string, kind string) string {
	words := strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon")
	replies := []string{`{"name":"well","match":{"last_user_contains":"Are you well?"},"times":-1,"text":"I am well."}`}
	for i, agent := range ring {
		for n, word := range words {
			replies = append(replies, fmt.Sprintf(`{"name":"pass","match":{"last_user_contains":"claude-swarm: turn for %s\n"},
				"content":[{"tool_use":{"id":"toolu_%s_%d","name":"mcp__dead-drop__send","input":{"to":%q,"type":%q,"text":"It is your turn: %s."}}}]}`,
				agent, agent, n, ring[(i+1)%len(ring)], kind, word+word))
		}
	}
	return `{"replies":[` + strings.Join(replies, ",\n") + `,{"name":"passed","match":{"last_is_tool_result":true},"times":-1,"text":"Passed on."}]}`
}

// The gate stops agents that would otherwise answer each other endlessly. The lead gets
// one notice, the ledger contains every turn with its cost, and the agents can do other
// work.
func TestAgentsThatNeverStopAreStopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ring   []string
		kind   string // type of the agents' messages
		policy string // "" for a project's default rules
		rule   string // rule that stops the agents
		atSend bool   // the tool refuses immediately; otherwise, the daemon refuses at the claim
		turns  int    // maximum number of turns that may run
	}{
		"two, answering":       {[]string{"coder", "reviewer"}, "result", "", "hops", true, 9},
		"two, asking":          {[]string{"coder", "reviewer"}, "question", "policy: {thread_per_min: 2, max_returns: 0, max_hops: 0}\n", "thread_rate", false, 12},
		"three, handing it on": {[]string{"coder", "reviewer", "tester"}, "handoff", "", "ring", true, 7},
		"three, with few hops": {[]string{"coder", "reviewer", "tester"}, "result", "policy: {max_hops: 3}\n", "hops", true, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			agents := ""
			for _, agent := range c.ring {
				agents += "  " + agent + ": {linger: 10m, allowed_tools: [Read]}\n"
			}
			p := newProject(t, passers(c.ring, c.kind), agents+c.policy)
			p.start()
			id := p.send(c.ring[0], "Pass it on for ever.", "--type", "handoff")
			p.until("the conversation is halted", func() bool { return len(p.status().Gate.Threads) == 1 })
			p.until("nobody works", func() bool {
				return !slices.ContainsFunc(p.status().Agents, func(a swarm.AgentStatus) bool { return a.State != swarm.Idle })
			})
			turns := p.api.Stats().Answered["pass"]
			if turns > c.turns || turns < len(c.ring) {
				t.Errorf("they had %d turns, want %d at most", turns, c.turns)
			}
			if h := p.status().Gate.Threads[0]; h.Thread != id || !strings.HasPrefix(h.Why, c.rule+": ") {
				t.Errorf("halted: %+v, want %s by the rule %s", h, id, c.rule)
			}
			said := slices.ContainsFunc(p.requests(), func(q turnRequest) bool { return strings.Contains(q.LastUser, "refused by a rule: "+c.rule) })
			kept, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/refused/*/*.md"))
			if said != c.atSend || (len(kept) > 0) == c.atSend {
				t.Errorf("the tool said so: %v; kept as refused: %q", said, kept)
			}

			// The lead got exactly one notice, and other work is done.
			for _, agent := range c.ring {
				p.receipt(agent, p.send(agent, "Are you well?", "--type", "handoff"))
			}
			if n := p.told("conversation halted"); n != 1 {
				t.Errorf("the lead was told %d times:\n%s", n, p.swarm("inbox"))
			}
			if n := p.api.Stats().Answered["pass"]; n != turns {
				t.Errorf("%d turns in the halted conversation, %d before", n, turns)
			}
			p.ledgerHolds(c.ring, turns+len(c.ring))
		})
	}
}

// ledgerHolds checks that the ledger contains this number of turns, all done, and compares
// the costs in the ledger with those in the status.
func (p *project) ledgerHolds(agents []string, turns int) {
	p.t.Helper()
	cost, n := map[string]float64{}, 0
	for line := range strings.Lines(p.read(".claude-swarm/ledger.jsonl")) {
		var l journal.LedgerLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			p.t.Fatal(err)
		}
		if l.CostUSD <= 0 || l.Outcome != "done" {
			p.t.Errorf("a turn that cost nothing, or failed: %s", line)
		}
		cost[l.Agent] += l.CostUSD
		n++
	}
	if n != turns {
		p.t.Errorf("%d turns in the ledger, want %d", n, turns)
	}
	for _, agent := range agents {
		if st := p.agent(agent); cost[agent] == 0 || math.Abs(st.CostUSD.Total-cost[agent]) > 1e-9 {
			p.t.Errorf("%s cost %v USD, and %v by the ledger", agent, st.CostUSD.Total, cost[agent])
		}
	}
}
