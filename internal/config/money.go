package config

import "github.com/claude-swarm/claude-swarm/swarm/runner"

// dollarCap is a cap in US dollars, together with its path in the file.
type dollarCap struct {
	path    string
	has     bool
	instead string // a suggested cap that works with every client
}

// money refuses caps in US dollars for agents whose client does not stop at a cap. Most
// such clients do not even report the cost of their turns.
func (r *reader) money(f *File) {
	if f.Budget.Billing == runner.BillingSubscription {
		return
	}
	for i := range f.Agents {
		a := &f.Agents[i]
		k := r.kindOf(a.Backend)
		if k == nil || k.Caps || a.Attached {
			continue
		}
		day, turn := r.budgetAt(a.Name, "day"), r.budgetAt(a.Name, "turn")
		caps := []dollarCap{
			{"budget.swarm.day", f.Budget.Swarm.Day.USD > 0, "swarm: {day: {turns: 400}}"},
			{"budget.task", f.Budget.Task.USD > 0, "task: {turns: 30, time: 2h}"},
			{day, a.Budget.Day.USD > 0, "day: {turns: 100, time: 6h}"},
			{turn, a.Budget.Turn > 0, "turn: null, and turn_timeout: 30m"},
		}
		for _, c := range caps {
			if c.has {
				r.once(r.find(c.path).value, c.path, wrong(c.instead, "backend %s does not stop at a cap in US dollars, so it cannot apply to %s", k.Name, a.Name))
			}
		}
	}
}

// budgetAt returns the path of a key of an agent's budget: in the agent's entry, in
// defaults, or in the budget of all agents.
func (r *reader) budgetAt(agent, key string) string {
	for _, path := range []string{"agents." + agent + ".budget." + key, "defaults.budget." + key} {
		if _, ok := r.at[path]; ok {
			return path
		}
	}
	return "budget.agent." + key
}

// kindOf finds a kind of client by name. It returns nil if the kind is unknown.
func (r *reader) kindOf(backend string) *runner.Kind {
	for _, k := range r.clients() {
		if k.Name == backend {
			return k
		}
	}
	return nil
}
