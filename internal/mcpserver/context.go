package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/board"
)

type clearArguments struct {
	Handoff string `json:"handoff,omitempty" jsonschema:"what your next session should know, in Markdown"`
}

// A done is what a tool gives that only does something.
type done struct {
	Note string `json:"note"`
}

func (d *done) readable() string { return d.Note }

// errNoContext is for who has no client that the daemon runs.
var errNoContext = errors.New("that is for agents, whose client the daemon runs; you are the lead")

func (c *call) compactContext(ctx context.Context, _ noArguments) (*done, error) {
	note := "When this turn has ended your context is compacted: it is summed up, and what you did last is given back to you. End the turn as usual."
	return c.order(ctx, note, Daemon.Compact)
}

func (c *call) clearContext(ctx context.Context, in clearArguments) (*done, error) {
	if err := c.hasClient(); err != nil {
		return nil, err
	}
	note := "When this turn has ended your context is cleared: the next message begins a fresh session. End the turn as usual."
	if strings.TrimSpace(in.Handoff) != "" {
		if _, err := c.board().Replace(board.Handoff(c.Me.Name), c.Home.Secrets().Redactor().Text(in.Handoff)); err != nil {
			return nil, err
		}
		note += " Your handoff is written."
	}
	return c.order(ctx, note, Daemon.Clear)
}

// hasClient says whether the daemon runs the caller's client.
func (c *call) hasClient() error {
	switch spec, ok := c.spec(c.Me.Name); {
	case !ok:
		return errNoContext
	case spec.Attached:
		return errors.New("a person runs your session, not the daemon; the person can type /compact or /clear")
	}
	return nil
}

// order tells the daemon what is to be done when the turn has ended.
func (c *call) order(ctx context.Context, note string, do func(Daemon, context.Context, string, string) error) (*done, error) {
	if err := c.hasClient(); err != nil {
		return nil, err
	}
	d, err := c.daemon(ctx)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		return nil, errors.New("no daemon runs, and only a daemon can do that")
	}
	defer d.Close()
	if err := do(d, ctx, c.Me.Name, c.Me.Name); err != nil {
		return nil, err
	}
	return &done{note}, nil
}
