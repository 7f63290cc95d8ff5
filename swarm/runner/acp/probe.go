package acp

import (
	"context"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Probe opens a session with our tools and ends the client; see [runner.Prober].
func (b *backend) Probe(ctx context.Context, t runner.Turn) runner.Probe {
	t.Prompt, t.Session, t.Permit, t.Steering = "", runner.Session{How: runner.New}, nil, nil
	e, leave := b.exchange(ctx, t, &session{})
	defer leave()
	e.probing = true
	out, ok := start(e)
	if ok {
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
