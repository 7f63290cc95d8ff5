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

// A Daemon answers queries and executes commands. [*control.Client] implements it.
type Daemon interface {
	Status(ctx context.Context, agents ...string) (swarm.Status, error)
	Pause(ctx context.Context, agent string, o swarm.PauseOrder) error
	Abort(ctx context.Context, agent, by, why string) (swarm.Cut, error)
	Compact(ctx context.Context, agent, by string) error
	Clear(ctx context.Context, agent, by string) error
	Close() error
}

// A daemonLink connects to the daemon of a project.
type daemonLink struct {
	dial   func(context.Context) (Daemon, error)
	halted func() bool
}

// open connects to the daemon; it returns nil if no daemon is running. The caller must
// close it.
func (l daemonLink) open(ctx context.Context) (Daemon, error) {
	d, err := l.dial(ctx)
	if errors.Is(err, control.ErrNoDaemon) {
		return nil, nil
	}
	return d, err
}

// hindrance returns the reason why no agent can work on its mail now, or "" if nothing blocks
// all agents.
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

// readsLater returns a note that names the recipients who will read an urgent message
// only after their current turn, or "" if there are no such recipients. It also returns
// "" if the daemon cannot be reached; this is not an error, because the messages have
// already been sent.
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

// halted is the note in a result while the swarm is halted.
const halted = "The swarm is halted: mail waits until a person lets the agents work again (claude-swarm unhalt)."

// noDaemon is the note in every result that would be more complete with a daemon.
const noDaemon = "No daemon is running: mail can be read and sent, and waits until a person starts one (claude-swarm start)."
