package view

import (
	"context"
	"errors"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Daemon returns the status of the swarm. [*control.Client] implements it.
type Daemon interface {
	Status(ctx context.Context, agents ...string) (swarm.Status, error)
}

// askedAtOnce is the maximum number of agents in one request if the status of all agents
// does not fit in one line of the protocol. The status of one agent takes a few hundred
// bytes, and at most a few thousand.
const askedAtOnce = 100

// Ask asks a daemon for the status of agents, or of all agents if agents is empty. If the
// status of all agents is too long for one answer, Ask calls all to get their names, and
// then asks about askedAtOnce agents at a time.
func Ask(ctx context.Context, d Daemon, agents []string, all func() ([]string, error)) (swarm.Status, error) {
	st, err := d.Status(ctx, agents...)
	if len(agents) > 0 {
		st.OnlyAgents()
	}
	if e, ok := errors.AsType[*control.Error](err); !ok || e.Code != control.CodeTooLong || len(agents) > 0 {
		return st, err
	}
	names, err := all()
	if err != nil {
		return st, err
	}
	var whole swarm.Status
	for part := range slices.Chunk(names, askedAtOnce) {
		st, err := d.Status(ctx, part...)
		if err != nil {
			return whole, err
		}
		st.Agents = append(whole.Agents, st.Agents...)
		whole = st
	}
	return whole, nil
}
