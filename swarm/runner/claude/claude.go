package claude

import (
	"context"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Options configures the backend. The zero value is ready to use.
type Options struct {
	Timing runner.Timing
	// MaxOutput is the maximum output of a client in one turn, in bytes; 0 means 1 GiB. A
	// turn with more output is stopped, because a client stuck in a loop would fill the
	// disk.
	MaxOutput int64
}

// New returns the backend. The backend need not be closed, because it keeps only
// information about the clients' programs.
func New(o Options) runner.Backend {
	return &backend{options: follow.Options{Timing: o.Timing.Or(runner.DefaultTiming()), MaxOutput: o.MaxOutput}}
}

type backend struct {
	options  follow.Options
	features features
}

// Kind returns the result of the function [Kind].
func (b *backend) Kind() *runner.Kind { return &kind }

// CompactPrompt returns the client's command for a compaction.
func (b *backend) CompactPrompt() string { return "/compact" }

// Run starts the client and follows it until it exits.
func (b *backend) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	out, _ := b.begin(ctx, t, false)
	return out
}

// begin runs a turn in a new client. If keep is true, the client stays for the next turn if
// possible.
func (b *backend) begin(ctx context.Context, t runner.Turn, keep bool) (runner.Outcome, runner.Warm) {
	r := b.newFollower(ctx, t)
	defer r.run.Close()
	r.keep = keep
	if err := writeFiles(t); err != nil {
		return r.run.Never(follow.Verdict{End: runner.NoResources, Reason: err.Error(), Hint: follow.HintDisk}), nil
	}
	args := append(command(t), arguments(t)...)
	if takesUp(t) && b.features.has(ctx, t, snapshotFlag) {
		args = append(args, string(snapshotFlag), "off")
	}
	if out, ok := r.run.Start(args, environment(t)); !ok {
		return out, nil
	}
	if t.Tools != nil {
		r.hold(promptLine(t))
	} else {
		r.sendPrompt(promptLine(t))
	}
	return r.follow()
}

// sendPrompt sends the client its prompt.
func (r *follower) sendPrompt(line []byte) {
	r.run.Send(line)
	r.turn.IsPrompted()
}

// Follow continues a turn that an earlier daemon began.
func (b *backend) Follow(ctx context.Context, t runner.Turn, p runner.Process) runner.Outcome {
	r := b.newFollower(ctx, t)
	defer r.run.Close()
	r.followed = true
	if out, ok := r.run.Adopt(p); !ok {
		return out
	}
	out, _ := r.follow()
	return out
}

// follow reads the client's output to its end, and makes sure that the client exits. If
// the client stays for the next turn, follow reads only up to the result of this turn.
func (r *follower) follow() (runner.Outcome, runner.Warm) {
	dec := streamjson.NewDecoder(r.run.Output(), 0)
	var broken error
	for broken == nil && !r.rests {
		var ev *streamjson.Event
		if ev, broken = dec.Next(); ev != nil {
			r.observe(ev)
		}
	}
	if !r.rests {
		// Usually the client has already exited. If its output cannot be read, it is
		// terminated here.
		r.run.Finish()
	}
	o := r.run.Outcome(r.proven(r.judge()), broken)
	o.Stream, o.Steered = dec.Stats(), r.steeredDone()
	if o.End != runner.BadSetup { // a client that was refused may have no account at all
		o.Billing = billing(r.seen.source, r.turn.Env)
	}
	if o.Text == "" {
		o.Text = r.lastWords()
	}
	if !r.rests {
		return o, nil
	}
	return o, &warm{r.run.Stay(dec.Offset())}
}
