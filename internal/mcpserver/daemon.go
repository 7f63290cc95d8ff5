package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A Daemon answers requests and carries out orders. [*control.Client] implements it.
type Daemon interface {
	Status(ctx context.Context, agents ...string) (swarm.Status, error)
	Pause(ctx context.Context, agent string, o swarm.PauseOrder) error
	Abort(ctx context.Context, agent, by, why string) (swarm.Cut, error)
	Compact(ctx context.Context, agent, by string) error
	Clear(ctx context.Context, agent, by string) error
	Close() error
}

// A daemonLink finds the daemon of a project.
type daemonLink struct {
	dial   func(context.Context) (Daemon, error)
	halted func() bool
}

// open finds the daemon; it returns nil if none runs. The caller closes it.
func (l daemonLink) open(ctx context.Context) (Daemon, error) {
	d, err := l.dial(ctx)
	if errors.Is(err, control.ErrNoDaemon) {
		return nil, nil
	}
	return d, err
}

// hindrance returns why no agent works on its mail now, or "" if nothing keeps all agents from
// working.
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

// readsLater says which recipients of an urgent message will read it only after their
// running turn, or returns "" if there are none. It also returns "" if the daemon cannot
// be asked: that is no error, since the messages are already sent.
func (l daemonLink) readsLater(ctx context.Context, sent []dropbox.Delivery) string {
	d, err := l.open(ctx)
	if err != nil || d == nil {
		return ""
	}
	defer d.Close()
	var said []string
	for _, one := range sent {
		if one.To == dropbox.Lead || one.Duplicate {
			continue
		}
		st, err := d.Status(ctx, one.To)
		if err != nil {
			continue
		}
		for _, a := range st.Agents {
			if text := view.ReadsLater(a, one.ID); text != "" && a.Name == one.To {
				said = append(said, strings.ToUpper(text[:1])+text[1:]+".")
			}
		}
	}
	return strings.Join(said, " ")
}

// halted is the note of a result while the swarm is halted.
const halted = "The swarm is halted: mail waits until a person lets the agents work again (claude-swarm unhalt)."

// noDaemon is the note in every result that would be more complete with a daemon.
const noDaemon = "No daemon is running: mail can be read and left, and waits until a person starts one (claude-swarm start)."
