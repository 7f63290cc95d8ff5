package acp

import (
	"context"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Options configures a backend. Client is required. Every other field has a usable zero
// value.
type Options struct {
	Client *Client // one of [Clients]
	Timing runner.Timing
	// MaxOutput is the maximum output of a client in one turn, in bytes; 0 means 1 GiB. A
	// turn with more output is stopped.
	MaxOutput int64
}

// New returns a backend for one kind of client. The backend need not be closed.
func New(o Options) runner.Backend {
	return &backend{client: o.Client, maxOutput: o.MaxOutput, timing: o.Timing.Or(runner.DefaultTiming()), silent: map[string]int{}, made: map[string]time.Time{}, began: time.Now()}
}

type backend struct {
	client    *Client
	timing    runner.Timing
	maxOutput int64

	mu sync.Mutex
	// silent counts, for each agent, the turns since its last successful one that ended
	// because the model did not respond.
	silent map[string]int
	// made contains the sessions of the last hour, each with the latest time at which it
	// may have been created.
	made  map[string]time.Time
	began time.Time // when the backend was created
}

// Kind returns the kind of the backend's client.
func (b *backend) Kind() *runner.Kind { return &b.client.Kind }

// Run starts the client and follows it until it exits.
func (b *backend) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	out, _ := b.first(ctx, t, false)
	return out
}

// Serve runs a turn and keeps its client running for the next turn if possible.
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

// start starts the client of an exchange. If it returns false, the client is not running,
// and the outcome contains the reason.
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

// Follow reads the output of a client that an earlier daemon started. The client's input
// closed when that daemon ended, so we cannot answer the client. Either it exits soon, or
// Follow ends it.
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

// exchange creates the exchange of a turn. s contains what the client has reported about
// its session so far. The caller must call leave at the end.
func (b *backend) exchange(ctx context.Context, t runner.Turn, s *session) (e *exchange, leave func()) {
	c, rest := b.client.changedBy(t.Spec.Options)
	e = &exchange{turn: t, client: &c, program: programOf(&c, &t), timing: b.timing, session: s}
	e.silence = silenceOf(&c, b.silentTurns(t.Agent), t.Spec.Stall)
	e.run = follow.New(ctx, t, &c.Kind, e, follow.Options{Timing: b.timing, MaxOutput: b.maxOutput, Terminates: c.Stays})
	e.handshake = handshake{client: &c, program: e.program, turn: &e.turn, rest: rest, born: b.born, session: s}
	e.stream = stream{client: &c, session: s.id, partial: t.Partial, spent: e.spent, emit: func(ev *streamjson.Event) {
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

// finish reads the client's output until the end of the turn.
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

// born returns the latest time at which a session may have been created. A session of an
// earlier daemon is older than this backend.
func (b *backend) born(session string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.made[session]; ok {
		return at
	}
	return b.began
}

// noteSession records when a turn created its session, if it created one.
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

// silentTurns returns how many of an agent's turns since its last successful one ended
// because the model did not respond.
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
// before is the result of silentTurns. Each of those turns doubles the limit, to give a
// slow model time to answer.
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
