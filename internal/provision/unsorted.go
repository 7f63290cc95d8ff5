package provision

import (
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// Unsorted says which tools of a kind of client agents do not get, because this version of
// claude-swarm does not know them.
type Unsorted struct {
	Why  string
	Next string // what to write to get them
}

// UnsortedTools returns a line for each kind of client that has offered unknown tools, if the
// daemon runs at least one agent that does not get them. It returns none if the daemon's file
// cannot be read; [Doctor] reports that.
func UnsortedTools(home journal.Home, agents []config.Agent) (all []Unsorted) {
	tools, err := journal.OpenUnsortedTools(home)
	if err != nil {
		return nil
	}
	var seen []string
	for _, a := range agents {
		kind := backends.Kind(a.Backend)
		if kind == nil || a.Attached || a.AllTools() || slices.Contains(seen, kind.Name) {
			continue
		}
		seen = append(seen, kind.Name)
		if why, next := tools.Text(kind); why != "" {
			all = append(all, Unsorted{why, next})
		}
	}
	return all
}
