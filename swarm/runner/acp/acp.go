package acp

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
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
	// MaxOutput ends a turn whose client has printed more, in bytes; 0 means 1 GiB.
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

	mu     sync.Mutex
	silent map[string]int       // turns in a row, by agent, that ended because the model did not answer
	made   map[string]time.Time // by session of the last hour: the latest time at which it can have been made
	began  time.Time            // when the backend was made
}

// Kind returns the kind of the row.
func (b *backend) Kind() *runner.Kind { return &b.client.Kind }

// Run starts the client and follows it to its end.
func (b *backend) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	out, _ := b.first(ctx, t, false)
	return out
}

// Serve runs a turn and lets its client stay for the next one, if it can.
func (b *backend) Serve(ctx context.Context, t runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	w, ok := c.(*warm)
	if !ok {
		return b.first(ctx, t, true)
	}
	e, leave := b.exchange(ctx, t)
	defer leave()
	e.keep, e.session = true, w.session
	e.stream.session = e.session.id
	if out, ok := e.run.GoOn(w.Warm); !ok {
		return out, nil
	}
	e.prompt()
	return b.finish(e)
}

// first runs a turn in a client that it starts.
func (b *backend) first(ctx context.Context, t runner.Turn, keep bool) (runner.Outcome, runner.Warm) {
	e, leave := b.exchange(ctx, t)
	defer leave()
	e.keep = keep
	if v := e.prepare(); v.End != "" {
		return e.run.Never(v), nil
	}
	if out, ok := e.run.Start(e.command(), e.environment()); !ok {
		return out, nil
	}
	e.begin()
	return b.finish(e)
}

// Follow reads what a client of an earlier daemon has printed. Its input ended with that
// daemon, so we cannot answer the client: it soon ends, or Follow ends it.
func (b *backend) Follow(ctx context.Context, t runner.Turn, p runner.Process) runner.Outcome {
	e, leave := b.exchange(ctx, t)
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

// exchange makes the exchange of a turn. The caller ends it with leave.
func (b *backend) exchange(ctx context.Context, t runner.Turn) (e *exchange, leave func()) {
	c, rest := b.client.changedBy(t.Spec.Options)
	e = &exchange{turn: t, client: c, rest: rest, timing: b.timing, born: b.born}
	e.silence = silenceOf(&c, b.silentTurns(t.Agent), t.Spec.Stall)
	e.run = follow.New(ctx, t, &c.Kind, e, follow.Options{Timing: b.timing, MaxOutput: b.maxOutput, Terminates: c.Stays})
	e.stream = stream{client: &e.client, partial: t.Partial, emit: func(ev *streamjson.Event) {
		e.run.Account.Observe(ev)
		if t.Event != nil {
			t.Event(ev)
		}
	}}
	permits, cancel := context.WithCancel(ctx)
	e.permitCtx = permits
	return e, func() {
		e.leave(cancel)
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
	v = e.judge() // its standard error is complete now
	b.noteEnd(e, v)
	return e.outcome(v, broken), nil
}

// rests reports whether the client stays after its turn.
func (e *exchange) rests() bool {
	return e.step == ended && e.reply.came && !e.run.Closing() && !e.run.Ending()
}

func (e *exchange) outcome(v follow.Verdict, broken error) runner.Outcome {
	if errors.Is(broken, io.EOF) {
		broken = nil
	}
	o := e.run.Outcome(v, broken)
	o.Decisions = e.asks.decisions
	if o.Text == "" {
		o.Text = e.stream.words()
	}
	if v.End.OK() {
		o.Steered = e.steered.taken
	}
	return o
}

// born returns the latest time at which a session can have been made: a session of an
// earlier daemon was made before this one began.
func (b *backend) born(session string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at, ok := b.made[session]; ok {
		return at
	}
	return b.began
}

// noteSession records that a turn has made a session.
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

// silentTurns counts an agent's latest turns in a row in which the model did not answer.
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

// prepare writes the files that the client reads. A verdict with an End means that the turn
// cannot begin.
func (e *exchange) prepare() follow.Verdict {
	if e.turn.Session.How == runner.Continue {
		return follow.Verdict{End: runner.Refused, Reason: e.client.Kind.Title + " cannot continue the newest session of a folder", Hint: "set session: resume for agent " + e.turn.Agent}
	}
	if len(e.words()) == 0 {
		return follow.Verdict{End: runner.Refused, Reason: "backend " + e.client.Kind.Name + " needs a program", Hint: "set command: of agent " + e.turn.Agent}
	}
	if err := removeReady(e.turn.Ready); err != nil {
		return follow.Verdict{End: runner.NoResources, Reason: err.Error(), Hint: follow.HintDisk}
	}
	if e.client.Servers == inFile {
		if err := writeServers(e.turn.Files.Servers, serversOf(e.turn)); err != nil {
			return follow.Verdict{End: runner.NoResources, Reason: err.Error(), Hint: follow.HintDisk}
		}
	}
	return follow.Verdict{}
}

// words returns the program and its first arguments.
func (e *exchange) words() []string {
	if len(e.turn.Spec.Command) > 0 {
		return e.turn.Spec.Command
	}
	return e.client.Kind.Command
}

// command returns the whole command line.
func (e *exchange) command() []string {
	args := slices.Clone(e.words())
	for _, a := range e.client.Args {
		args = append(args, e.filled(a))
	}
	if e.turn.Spec.Model != "" {
		for _, a := range e.client.ModelArgs {
			args = append(args, e.filled(a))
		}
	}
	for i := range args {
		args[i] = e.filled(args[i])
	}
	return args
}

// filled replaces the placeholders in a text of the table with the values of the turn.
func (e *exchange) filled(text string) string {
	return strings.NewReplacer("{servers}", e.turn.Files.Servers, "{model}", e.turn.Spec.Model).Replace(text)
}

// environment returns the environment of the turn with what the client needs.
func (e *exchange) environment() []string {
	add := map[string]string{}
	for name, value := range e.client.Env {
		isSet := slices.ContainsFunc(e.turn.Env, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
		if !isSet || strings.Contains(value, "{servers}") {
			add[name] = e.filled(value)
		}
	}
	if e.client.ModeVar != "" && e.turn.Spec.PermissionMode != "" {
		add[e.client.ModeVar] = e.turn.Spec.PermissionMode
	}
	if e.client.ModelVar != "" && e.turn.Spec.Model != "" {
		add[e.client.ModelVar] = e.turn.Spec.Model
	}
	env := slices.DeleteFunc(slices.Clone(e.turn.Env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, ours := add[name]
		return ours
	})
	for _, name := range slices.Sorted(maps.Keys(add)) {
		env = append(env, name+"="+add[name])
	}
	return env
}
