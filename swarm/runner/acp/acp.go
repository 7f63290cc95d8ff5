package acp

import (
	"context"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Options tune a backend. Client is required; the zero value of every other field is ready
// to use.
type Options struct {
	Client *Client // a row of the table
	Timing runner.Timing
	// MaxOutput is the maximum that a client may print in a turn, in bytes; 0 means 1
	// GiB. A turn that prints more is ended.
	MaxOutput int64
}

// New returns the backend of one kind of client. It needs no Close.
func New(o Options) runner.Backend {
	return &backend{client: o.Client, maxOutput: o.MaxOutput, timing: o.Timing.Or(runner.DefaultTiming()), silent: map[string]int{}, made: map[string]time.Time{}, began: time.Now()}
}

type backend struct {
	client    *Client
	timing    runner.Timing
	maxOutput int64

	mu sync.Mutex
	// silent counts, for each agent, the turns since its last good one that ended because
	// the model did not answer.
	silent map[string]int
	// made contains, for each session of the last hour, the latest time at which the
	// session may have been made.
	made  map[string]time.Time
	began time.Time // when the backend was made
}

// Kind returns the kind in the client's row.
func (b *backend) Kind() *runner.Kind { return &b.client.Kind }

// Run starts the client and follows it to its end.
func (b *backend) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	out, _ := b.first(ctx, t, false)
	return out
}

// Serve runs a turn and lets its client stay for the next turn, if the client can.
func (b *backend) Serve(ctx context.Context, t runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	w, ok := c.(*warm)
	if !ok {
		return b.first(ctx, t, true)
	}
	e, leave := b.exchange(ctx, t, w.session)
	defer leave()
	e.keep = true
	if out, ok := e.run.GoOn(w.Warm); !ok {
		return out, nil
	}
	e.prompt()
	return b.finish(e)
}

// first runs a turn in a new client.
func (b *backend) first(ctx context.Context, t runner.Turn, keep bool) (runner.Outcome, runner.Warm) {
	e, leave := b.exchange(ctx, t, &session{})
	defer leave()
	e.keep = keep
	if out, ok := start(e); !ok {
		return out, nil
	}
	return b.finish(e)
}

// start starts the client of an exchange. When it returns false, the client does not run,
// and the outcome says why.
func start(e *exchange) (runner.Outcome, bool) {
	s := startup{e.client, &e.turn}
	if v := s.prepare(); v.End != "" {
		return e.run.Never(v), false
	}
	if out, ok := e.run.Start(s.command(), s.environment()); !ok {
		return out, false
	}
	e.begin()
	return runner.Outcome{}, true
}

// Follow reads what a client of an earlier daemon has printed. The client's input ended
// with that daemon, so we cannot answer the client. It soon ends, or Follow ends it.
func (b *backend) Follow(ctx context.Context, t runner.Turn, p runner.Process) runner.Outcome {
	e, leave := b.exchange(ctx, t, &session{})
	defer leave()
	e.followed, e.silence = true, 0
	if out, ok := e.run.Adopt(p); !ok {
		return out
	}
	e.enter(working)
	e.session.id = t.Session.ID
	if t.From == (runner.Place{}) {
		e.enter(starting)
		e.session.id = ""
	}
	out, _ := b.finish(e)
	return out
}

// exchange makes the exchange of a turn. s contains what the client has reported about its
// session so far. The caller ends the exchange with leave.
func (b *backend) exchange(ctx context.Context, t runner.Turn, s *session) (e *exchange, leave func()) {
	c, rest := b.client.changedBy(t.Spec.Options)
	e = &exchange{turn: t, client: &c, program: programOf(&c, &t), timing: b.timing, session: s}
	e.silence = silenceOf(&c, b.silentTurns(t.Agent), t.Spec.Stall)
	e.run = follow.New(ctx, t, &c.Kind, e, follow.Options{Timing: b.timing, MaxOutput: b.maxOutput, Terminates: c.Stays})
	e.handshake = handshake{client: &c, program: e.program, turn: &e.turn, rest: rest, born: b.born, session: s}
	e.stream = stream{client: &c, session: s.id, partial: t.Partial, emit: func(ev *streamjson.Event) {
		e.run.Account.Observe(ev)
		if t.Event != nil {
			t.Event(ev)
		}
	}}
	e.asks = asks{send: e.run.Send, wake: e.run.Wake, stream: &e.stream}
	permits, cancel := context.WithCancel(ctx)
	if t.Permit != nil {
		e.asks.permit = func(r runner.PermissionRequest) runner.Decision { return t.Permit(permits, r) }
	}
	return e, func() {
		cancel()
		e.asks.wg.Wait()
		e.run.Close()
	}
}

// finish reads the client's output to the end of the turn.
func (b *backend) finish(e *exchange) (runner.Outcome, runner.Warm) {
	lines := newLineReader(e.run.Output())
	var broken error
	for broken == nil {
		line, whole, err := lines.next()
		if broken = err; len(line) > 0 {
			e.run.Heard(time.Now())
			e.line(line, whole)
		}
		if e.rests() {
			break
		}
	}
	v := e.judge()
	if e.rests() && v.End == runner.Done {
		out := e.outcome(v, nil)
		b.noteEnd(e, v)
		return out, &warm{Warm: e.run.Stay(lines.offset), session: e.session}
	}
	e.run.Finish()
	v = e.judge() // the client's standard error is complete now
	b.noteEnd(e, v)
	return e.outcome(v, broken), nil
}

// born returns the latest time at which a session may have been made. A session of an
// earlier daemon was made before this backend.
func (b *backend) born(session string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.made[session]; ok {
		return at
	}
	return b.began
}

// noteSession records that a turn has made a session, and when.
func (b *backend) noteSession(e *exchange) {
	if e.session.id == "" || e.turn.Session.How == runner.Resume || !e.client.FreshLoads {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made[e.session.id] = e.session.made
	for id, at := range b.made {
		if time.Since(at) > time.Hour {
			delete(b.made, id)
		}
	}
}

// silentTurns returns how many of an agent's turns since its last good one ended because
// the model did not answer.
func (b *backend) silentTurns(agent string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.silent[agent]
}

func (b *backend) noteEnd(e *exchange, v follow.Verdict) {
	b.noteSession(e)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case v.End == runner.Limited && e.silence > 0 && e.run.Cause().End == runner.Limited:
		b.silent[e.turn.Agent]++
	case v.End == runner.Done:
		delete(b.silent, e.turn.Agent)
	}
}

// silenceOf returns how long a client may be silent; 0 means that there is no limit.
// before is the number of turns that silentTurns has counted: each of them doubles the
// time, so that a slow model has time to answer.
func silenceOf(c *Client, before int, stall time.Duration) time.Duration {
	d := c.Silence
	if d == 0 {
		return 0
	}
	for range min(before, 10) {
		d *= 2
	}
	if stall > 0 && d >= stall {
		return 0 // stall_timeout ends the turn first
	}
	return d
}
