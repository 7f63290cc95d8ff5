package view

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// StartDaemon is the next step where only a daemon is missing.
const StartDaemon = "claude-swarm start"

// A Status is how things stand, with what follows from that. Its JSON is that of
// [swarm.Status] and what waits for a person.
type Status struct {
	swarm.Status
	Needs []Need `json:"needs_you"`
}

// StatusOf works out what follows from the answer of the daemon, or from what the files
// tell where none runs.
func StatusOf(st swarm.Status) *Status { return &Status{Status: st, Needs: needs(st)} }

// Cost is what all agents have cost together, in US dollars.
func (s *Status) Cost() journal.Cost {
	var sum journal.Cost
	for _, a := range s.Agents {
		sum.Today += a.CostUSD.Today
		sum.Total += a.CostUSD.Total
	}
	return sum
}

// A Limit parks the agents of one account: its usage limit is reached, or the service is
// at fault.
type Limit struct {
	Agents []string  // that are parked
	Why    string    // "" where nobody knows
	Until  time.Time // when the first of them is tried again
	Hint   string    // what a person can do about it; "" for nothing
}

// Shared tells whether the limit parks several agents, so that it is said once for all.
func (l Limit) Shared() bool { return len(l.Agents) > 1 }

// Next is what to type for not waiting until the limit ends.
func (l Limit) Next() string { return "claude-swarm resume " + l.Agents[0] }

// Limits are the limits that park agents, in the order of the agents.
func (s *Status) Limits() []Limit { return limits(s.Agents) }

func limits(agents []swarm.AgentStatus) []Limit {
	var list []Limit
	at := map[string]int{} // by account
	for _, a := range agents {
		if a.State != swarm.Limited || a.Limit == nil {
			continue
		}
		i, known := at[a.Limit.Account]
		if !known {
			i = len(list)
			at[a.Limit.Account] = i
			list = append(list, Limit{Why: a.Why, Until: a.Limit.Until, Hint: a.Limit.Hint})
		}
		l := &list[i]
		l.Agents = append(l.Agents, a.Name)
		if a.Limit.Until.Before(l.Until) {
			l.Until = a.Limit.Until
		}
	}
	return list
}

// An Agent is an agent in the list of all. It has no reason and no next step where both
// are said once for all agents whom they concern: see [Status.Limits] and [NeedDaemon].
type Agent struct {
	swarm.AgentStatus
	// ContextPercent is how full its session is; -1 is not known.
	ContextPercent int
}

// List is the list of all agents. Where nothing else comes next for an agent, its dead
// letters are to be looked at.
func (s *Status) List() []Agent {
	var shared []string
	for _, l := range s.Limits() {
		if l.Shared() {
			shared = append(shared, l.Agents...)
		}
	}
	list := make([]Agent, len(s.Agents))
	for i, a := range s.Agents {
		if slices.Contains(shared, a.Name) {
			a.Why, a.Next = "", ""
		}
		if lacksDaemon(s.Status, a) {
			a.Next = ""
			if a.Why == swarm.WhyNoDaemon {
				a.Why = ""
			}
		}
		if a.Next == "" && a.Dead > 0 {
			a.Next = listDead(a.Name)
		}
		list[i] = Agent{a, -1}
		if c := a.Context; c.Limit > 0 {
			list[i].ContextPercent = c.Tokens * 100 / c.Limit
		}
	}
	return list
}

// lacksDaemon tells whether an agent does nothing only because no daemon runs.
func lacksDaemon(st swarm.Status, a swarm.AgentStatus) bool {
	return st.Daemon == nil && a.State == swarm.Stopped && a.Next == StartDaemon
}

func listDead(agent string) string { return "claude-swarm dead list " + agent }
