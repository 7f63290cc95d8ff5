package swarm

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// turnsAt are the turns that ran at a time, in the whole swarm.
func (s *Swarm) turnsAt(at time.Time) []*journal.Record {
	var all []*journal.Record
	for _, m := range s.members() {
		if rec := m.turns.Runs.At(at); rec != nil {
			all = append(all, rec)
		}
	}
	return append(all, s.home.AttachedTurns(at)...)
}
