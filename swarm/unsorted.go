package swarm

import (
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// unsortedTrouble returns one problem for each kind of client that offers tools which this
// version of claude-swarm does not know, if at least one agent does not get them.
func unsortedTrouble(p Plan, backends map[string]runner.Backend, unsorted *journal.UnsortedTools) (all []Problem) {
	var seen []*runner.Kind
	for _, spec := range p.Agents {
		kind := turn.BackendOf(backends, spec.Backend).Kind()
		if spec.AllTools || spec.Attached || slices.Contains(seen, kind) {
			continue
		}
		seen = append(seen, kind)
		if why, next := unsorted.Text(kind); why != "" {
			all = append(all, Problem{Why: why, Next: next})
		}
	}
	return all
}
