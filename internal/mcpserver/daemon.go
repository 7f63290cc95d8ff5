package mcpserver

import (
	"context"
	"errors"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Daemon answers questions and carries out orders that need the daemon. It is
// [*control.Client].
type Daemon interface {
	Status(ctx context.Context, agents ...string) (swarm.Status, error)
	Pause(ctx context.Context, agent string, o swarm.PauseOrder) error
	Abort(ctx context.Context, agent, by string) (swarm.Cut, error)
	Compact(ctx context.Context, agent, by string) error
	Clear(ctx context.Context, agent, by string) error
	Close() error
}

// A daemonLink finds the daemon of a project.
type daemonLink struct {
	dial   func(context.Context) (Daemon, error)
	halted func() bool
}

// open finds the daemon; nil when none runs. The caller closes it.
func (l daemonLink) open(ctx context.Context) (Daemon, error) {
	d, err := l.dial(ctx)
	if errors.Is(err, control.ErrNoDaemon) {
		return nil, nil
	}
	return d, err
}

// hindrance says why no agent works on its mail now; "" when the agents work.
func (l daemonLink) hindrance(ctx context.Context) (string, error) {
	d, err := l.open(ctx)
	switch {
	case err != nil:
		return "", err
	case d == nil:
		return noDaemon, nil
	}
	if l.halted() {
		return halted, d.Close()
	}
	return "", d.Close()
}

// halted is the note of a result while no agent begins a turn.
const halted = "The swarm is halted: mail waits until a person lets the agents work again (claude-swarm unhalt)."

// noDaemon is the note of every result that would be better with a daemon.
const noDaemon = "No daemon runs: mail can be read and left, and waits until a person starts one (claude-swarm start)."
