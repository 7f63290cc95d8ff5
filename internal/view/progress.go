package view

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// ProgressOf describes what an agent's running turn has done and cost so far, such as "12
// steps, ≥ 0.42 USD so far". It returns "" if no turn is running, or if the turn has taken no
// step yet.
func ProgressOf(a swarm.AgentStatus) string {
	if a.Turn == nil || a.Turn.Steps == 0 && a.Turn.CostUSD == nil {
		return ""
	}
	text := screen.Count(a.Turn.Steps, "step")
	if usd := a.Turn.CostUSD; usd != nil {
		text += fmt.Sprintf(", ≥ %.*f USD", screen.Digits(*usd), *usd)
	}
	return text + " so far"
}

// CostNow returns an agent's cost including the known part of what its running turn costs.
// That turn counts as one whose cost is only partly known.
func CostNow(a swarm.AgentStatus) journal.Cost {
	c := a.CostUSD
	if a.Turn != nil && a.Turn.CostUSD != nil {
		c = c.Plus(journal.Cost{Today: *a.Turn.CostUSD, Total: *a.Turn.CostUSD, TodayUnknown: 1, TotalUnknown: 1})
	}
	return c
}

// A Running is a running turn, as `budget --json` prints it.
type Running struct {
	Agent   string   `json:"agent"`
	Message string   `json:"message"` // id; "" for a turn that compacts the context
	Steps   int      `json:"steps"`
	CostUSD *float64 `json:"cost_usd"` // at least so much, in US dollars; null if unknown
}

// RunningTurns returns the running turns, in the order of the agents.
func RunningTurns(agents []swarm.AgentStatus) []Running {
	list := []Running{}
	for _, a := range agents {
		if a.Turn != nil {
			list = append(list, Running{a.Name, messageOf(a), a.Turn.Steps, a.Turn.CostUSD})
		}
	}
	return list
}

func messageOf(a swarm.AgentStatus) string {
	if a.Message == nil {
		return ""
	}
	return a.Message.ID
}
