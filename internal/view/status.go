package view

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// StartDaemon is the next step if the only problem is that no daemon is running.
const StartDaemon = "claude-swarm start"

// A Status is the status of a swarm, together with what a person has to do about it. Its
// JSON form is that of [swarm.Status], with needs_you added.
type Status struct {
	swarm.Status
	Needs []Need `json:"needs_you"` // everything that waits for a person, derived from the other fields, ordered by kind
}

// StatusOf adds the needs to the daemon's answer, or to the status from the files if no
// daemon is running.
func StatusOf(st swarm.Status) *Status { return &Status{Status: st, Needs: needs(st)} }

// Cost returns the total cost of all agents, also of the removed ones, and of the supervisor,
// in US dollars, including the known part of the running turns.
func (s *Status) Cost() journal.Cost {
	sum := s.Judge.Plus(s.Removed)
	for _, a := range s.Agents {
		sum = sum.Plus(CostNow(a))
	}
	return sum
}

// A Limit parks the agents of one account: the account is at its usage limit, or the
// service is failing.
type Limit struct {
	Agents []string  // the parked agents
	Why    string    // "" if it is unknown
	Until  time.Time // when the first of these agents is retried
	Hint   string    // what a person can do; "" if a person can do nothing
}

// Shared reports whether the limit parks several agents. A front end then shows it only
// once.
func (l Limit) Shared() bool { return len(l.Agents) > 1 }

// Next returns the command that retries before the limit ends.
func (l Limit) Next() string { return "claude-swarm resume " + l.Agents[0] }

// Limits returns the limits that park agents, in the order of their first agents.
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

// An Agent is an entry in the list of all agents. Its reason and its next step are empty if
// front ends show them once for several agents: see [Status.Limits] and [NeedDaemon].
type Agent struct {
	swarm.AgentStatus
	// ContextPercent is how full the session's context is, in percent, or -1 if this is
	// unknown.
	ContextPercent int
}

// List returns the list of all agents. If an agent has dead letters and no other next step,
// its next step is to list the dead letters.
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
		list[i] = Agent{a, a.Context.Percent()}
	}
	return list
}

// lacksDaemon reports whether an agent is stopped only because no daemon is running.
func lacksDaemon(st swarm.Status, a swarm.AgentStatus) bool {
	return st.Daemon == nil && a.State == swarm.Stopped && a.Next == StartDaemon
}

func listDead(agent string) string { return "claude-swarm dead list " + agent }
