package acp

import (
	"context"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Probe opens a session with our tools and ends the client; see [runner.Prober].
func (b *backend) Probe(ctx context.Context, t runner.Turn) runner.Probe {
	t.Prompt, t.Session, t.Permit, t.Steering = "", runner.Session{How: runner.New}, nil, nil
	e, leave := b.exchange(ctx, t)
	defer leave()
	e.probing = true
	var out runner.Outcome
	if v := e.prepare(); v.End != "" {
		out = e.run.Never(v)
	} else if never, ok := e.run.Start(e.command(), e.environment()); !ok {
		out = never
	} else {
		e.begin()
		out, _ = b.finish(e)
	}
	p := runner.Probe{
		Name: e.session.hello.Agent.Name, Version: e.session.hello.version(), Model: e.session.model, Mode: e.session.mode,
		Modes: e.session.modes, End: out.End, Reason: out.Reason, Hint: out.Hint,
	}
	switch {
	case out.End != runner.Done || t.Tools == nil:
	case e.client.LateTools && !e.hasTools():
		p.Tools = runner.Later
	default:
		p.Tools = runner.Proven
	}
	return p
}

// probed ends a client that has shown that it can begin a turn.
func (e *exchange) probed() { e.fail(follow.Verdict{End: runner.Done}) }
