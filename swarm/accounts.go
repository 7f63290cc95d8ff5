package swarm

import (
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// accounts knows which account each agent's client uses. Agents that share a login or key share
// its usage limit.
type accounts struct {
	backends map[string]runner.Backend
	environ  []string
	plan     func() Plan
}

// of returns the name of the account that the client of an agent with these settings uses.
func (c accounts) of(spec Spec) string {
	return accountOf(turn.BackendOf(c.backends, spec.Backend).Kind().Login, c.environ, spec)
}

// sharing returns the names of the agents that share an account.
func (c accounts) sharing(account string) []string {
	var names []string
	for _, spec := range c.plan().Agents {
		if c.of(spec) == account {
			names = append(names, spec.Name)
		}
	}
	return names
}
