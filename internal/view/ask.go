package view

import (
	"context"
	"errors"
	"slices"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Daemon says how things stand. It is [*control.Client].
type Daemon interface {
	Status(ctx context.Context, agents ...string) (swarm.Status, error)
}

// askedAtOnce is how many agents are asked for at once where all of them are too many for
// one line of the protocol. One takes some hundred bytes, and some thousand where it has
// much to say.
const askedAtOnce = 100

// Ask asks a daemon how things stand, with agents, or with all where none is named. Where
// one answer cannot hold all, it asks for some at a time; all gives their names then.
func Ask(ctx context.Context, d Daemon, agents []string, all func() ([]string, error)) (swarm.Status, error) {
	st, err := d.Status(ctx, agents...)
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
