package journal

import (
	"errors"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// Damaged checks whether state.json, sessions.json and unsorted-tools.json still contain
// what the daemon wrote, and lists those that do not. If state.json is damaged, the daemon does not start,
// because it would otherwise wake paused or stopped agents. If sessions.json is damaged,
// the daemon starts, and each agent begins a new conversation.
func (h Home) Damaged() []*durable.DamagedError {
	var list []*durable.DamagedError
	_, holds := OpenHolds(h)
	_, sessions := OpenSessions(h)
	_, tools := OpenUnsortedTools(h)
	for _, err := range []error{holds, sessions, tools} {
		if e, ok := errors.AsType[*durable.DamagedError](err); ok {
			list = append(list, e)
		}
	}
	return list
}
