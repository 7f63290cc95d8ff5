package mcpserver

import (
	"context"
	"errors"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/board"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// ownTurn lets the caller control its own turn and session through the daemon.
type ownTurn struct {
	*Caller
	daemon daemonLink
	pages  boardPages
}

func ownTurnOf(c *call) ownTurn { return ownTurn{c.Caller, c.daemon, boardOf(c)} }

// These are the possible outcomes of an ask.
const (
	answered   = "answered"
	refused    = "refused"    // no answer will arrive
	notWaiting = "not waited" // no answer is possible now
)

type clearArguments struct {
	Handoff string `json:"handoff,omitempty" jsonschema:"what your next session should know, in Markdown"`
}

// A done is the result of a tool that returns no data.
type done struct {
	Note string `json:"note"`
}

func (d *done) readable() string { return d.Note }

// errNoContext is the error for a caller that is not an agent.
var errNoContext = errors.New("that is only for agents whose client the daemon runs; you are the lead")

func (o ownTurn) compact(ctx context.Context, _ noArguments) (*done, error) {
	note := "When this turn has ended, your context will be compacted: it is replaced by a summary, and you get your latest steps back. End the turn as usual."
	return o.order(ctx, note, Daemon.Compact)
}

func (o ownTurn) clear(ctx context.Context, in clearArguments) (*done, error) {
	if err := o.hasClient(); err != nil {
		return nil, err
	}
	note := "When this turn has ended, your context will be cleared: the next message begins a fresh session. End the turn as usual."
	if strings.TrimSpace(in.Handoff) != "" {
		if _, err := o.pages.Replace(board.Handoff(o.Me.Name), o.pages.redact(in.Handoff)); err != nil {
			return nil, err
		}
		note += " Your handoff is written."
	}
	return o.order(ctx, note, Daemon.Clear)
}

// hasClient returns an error unless the daemon runs the caller's client.
func (o ownTurn) hasClient() error {
	switch spec, ok := o.spec(o.Me.Name); {
	case !ok:
		return errNoContext
	case spec.Attached:
		return errors.New("a person, not the daemon, runs your session; the person can type /compact or /clear")
	}
	return nil
}

// order sends the daemon a command that takes effect at the end of the turn.
func (o ownTurn) order(ctx context.Context, note string, do func(Daemon, context.Context, string, string) error) (*done, error) {
	if err := o.hasClient(); err != nil {
		return nil, err
	}
	d, err := o.daemon.open(ctx)
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		return nil, errors.New("no daemon is running, and only a daemon can do that")
	}
	defer d.Close()
	if err := do(d, ctx, o.Me.Name, o.Me.Name); err != nil {
		return nil, err
	}
	return &done{note}, nil
}

// stop pauses the agent whose question got no answer, or aborts its turn, and returns a
// note about how the turn ends.
func (o ownTurn) stop(ctx context.Context, how string, l client.Lack) (string, error) {
	if o.Me.Turn == "" {
		return "You are not in a turn, so there is nothing to end.", nil
	}
	d, err := o.daemon.open(ctx)
	if err != nil {
		return "", err
	}
	if d == nil {
		return noDaemon + " End this turn yourself, and say what you are waiting for.", nil
	}
	defer d.Close()
	if how == client.AtAbort {
		_, err = d.Abort(ctx, o.Me.Name, o.Me.Name, l.Why())
		return "This turn is being ended.", err
	}
	err = d.Pause(ctx, o.Me.Name, swarm.PauseOrder{By: o.Me.Name, Why: l.Why(), Questions: l.Asked})
	return "You are paused after this turn, until somebody answers or resumes you: end it now, and say what you are waiting for.", err
}
