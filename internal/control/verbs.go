package control

import (
	"context"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Status returns the status of the named agents, or of all agents if none are named.
func (c *Client) Status(ctx context.Context, agents ...string) (swarm.Status, error) {
	var st swarm.Status
	err := c.call(ctx, request{Type: reqStatus, Agents: agents}, &st)
	return st, err
}

// WhoAmI returns the person or the agent for whom this process runs, as the daemon sees it.
// The error is an [*Error] with [CodeUntraced] if the daemon cannot find out.
func (c *Client) WhoAmI(ctx context.Context, claim journal.Claim) (journal.Caller, error) {
	var who journal.Caller
	err := c.call(ctx, request{Type: reqWhoAmI, Claim: claim}, &who)
	return who, err
}

// Start allows an agent to work again after a person or the breaker has stopped it.
func (c *Client) Start(ctx context.Context, agent, by string) error {
	return c.call(ctx, request{Type: reqStart, Agent: agent, By: by}, nil)
}

// Stop prevents an agent from starting new work and waits for its running turn to end. If
// now is set, Stop ends the turn. It then returns the outcome for the turn's message, or
// nil if it ended no turn. The order stays in force even if ctx is done first.
func (c *Client) Stop(ctx context.Context, agent, by string, now bool) (*swarm.Cut, error) {
	var cut *swarm.Cut
	err := c.call(ctx, request{Type: reqStop, Agent: agent, By: by, Now: now}, &cut)
	return cut, err
}

// Pause prevents an agent from starting new work, either for a given time or until Resume
// is called.
func (c *Client) Pause(ctx context.Context, agent string, o swarm.PauseOrder) error {
	return c.call(ctx, request{Type: reqPause, Agent: agent, By: o.By, Why: o.Why, For: span(o.For), Questions: o.Questions}, nil)
}

// Resume ends a pause. It returns [swarm.ErrNotPaused] if the agent has no pause or other
// hold that Resume can end.
func (c *Client) Resume(ctx context.Context, agent, by string) error {
	return c.call(ctx, request{Type: reqResume, Agent: agent, By: by}, nil)
}

// LiftPause ends a pause and nothing else; see [swarm.Orders.LiftPause].
func (c *Client) LiftPause(ctx context.Context, agent, by string) error {
	return c.call(ctx, request{Type: reqResume, Agent: agent, By: by, PauseOnly: true}, nil)
}

// Drain lets an agent finish the tasks that have begun, and keeps it from beginning others.
func (c *Client) Drain(ctx context.Context, agent, by string) error {
	return c.call(ctx, request{Type: reqDrain, Agent: agent, By: by}, nil)
}

// Undrain ends a drain. It returns [swarm.ErrNotDraining] if the agent was not draining.
func (c *Client) Undrain(ctx context.Context, agent, by string) error {
	return c.call(ctx, request{Type: reqUndrain, Agent: agent, By: by}, nil)
}

// Abort ends an agent's running turn, waits until the turn has ended, and returns the
// outcome for its message. The error is [swarm.ErrNoTurn] if no turn is running. why may be
// "".
func (c *Client) Abort(ctx context.Context, agent, by, why string) (swarm.Cut, error) {
	var cut swarm.Cut
	err := c.call(ctx, request{Type: reqAbort, Agent: agent, By: by, Why: why}, &cut)
	return cut, err
}

// Interrupt ends an agent's running turn and puts its message back. It waits until the turn
// has ended, and returns the outcome for the message. urgent is the id of the message for
// which the turn should end; a turn that is already working on that message keeps running.
// The error is [swarm.ErrNoTurn] if there is no turn to end.
func (c *Client) Interrupt(ctx context.Context, agent, by, urgent string) (swarm.Cut, error) {
	var cut swarm.Cut
	err := c.call(ctx, request{Type: reqInterrupt, Agent: agent, By: by, Message: urgent}, &cut)
	return cut, err
}

// Compact makes an agent's client summarize its conversation before the next message. The error
// is [swarm.ErrCannotCompact] if the client cannot do that.
func (c *Client) Compact(ctx context.Context, agent, by string) error {
	return c.call(ctx, request{Type: reqCompact, Agent: agent, By: by}, nil)
}

// Clear makes an agent begin a new session with its next message.
func (c *Client) Clear(ctx context.Context, agent, by string) error {
	return c.call(ctx, request{Type: reqClear, Agent: agent, By: by}, nil)
}

// RaiseBudget adds to the cap of a scope, and returns the scope's new state. The error
// may be a [budget.UnknownScopeError].
func (c *Client) RaiseBudget(ctx context.Context, scope string, amount budget.Amount, by string) (budget.Row, error) {
	var row budget.Row
	err := c.call(ctx, request{Type: reqRaise, Scope: scope, USD: amount.Dollars(), Turns: int(amount[budget.Turns]), For: span(amount.Span()), By: by}, &row)
	return row, err
}

// Reload makes the daemon reread its configuration. If the configuration has mistakes, nothing
// changes, and the error is an [Error] with [CodeBadConfig]. If rights would grow while turns
// are running and accept is false, it is one with [CodeGrows].
func (c *Client) Reload(ctx context.Context, by string, accept bool) (swarm.Changes, error) {
	var ch swarm.Changes
	err := c.call(ctx, request{Type: reqReload, By: by, Accept: accept}, &ch)
	return ch, err
}

// Whispers fetches the supervisor's whispers; see [Client.OnWhisper].
func (c *Client) Whispers(ctx context.Context) error {
	return c.call(ctx, request{Type: reqWhispers}, nil)
}

// Shutdown tells the daemon to end: when its running turns have ended, or immediately if
// now is set. It returns when the daemon has accepted the order. To wait until the daemon
// has ended, use [Client.Gone].
func (c *Client) Shutdown(ctx context.Context, by string, now bool) error {
	return c.call(ctx, request{Type: reqShutdown, By: by, Now: now}, nil)
}
