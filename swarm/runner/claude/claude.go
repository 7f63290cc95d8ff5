package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Options tune the backend. The zero value is ready to use.
type Options struct {
	Timing runner.Timing
	// MaxOutput ends a turn whose client has printed more, in bytes; 0 means
	// 1 GiB. A client that loops would fill the disk.
	MaxOutput int64
}

// New returns the backend. It keeps only facts about the clients' programs, so it needs no
// Close.
func New(o Options) runner.Backend {
	return &backend{timing: o.Timing.Or(runner.DefaultTiming()), maxOutput: cmp.Or(o.MaxOutput, 1<<30)}
}

type backend struct {
	timing    runner.Timing
	maxOutput int64
	features  features
}

// Kind is [Kind].
func (b *backend) Kind() *runner.Kind { return &kind }

// CompactPrompt is the client's own command.
func (b *backend) CompactPrompt() string { return "/compact" }

// Run starts the client and follows it to its end.
func (b *backend) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	out, _ := b.begin(ctx, t, false)
	return out
}

// begin runs a turn in a new client, which stays afterwards if keep says so and it can.
func (b *backend) begin(ctx context.Context, t runner.Turn, keep bool) (out runner.Outcome, stays runner.Warm) {
	r := b.newFollower(ctx, t)
	r.client.keep = keep
	if err := writeFiles(t); err != nil {
		return r.never(runner.NoResources, err.Error(), lookAtDisk), nil
	}
	child, stdout, err := b.start(ctx, t)
	if err != nil {
		end, reason, hint := startError(t, err)
		return r.never(end, reason, hint), nil
	}
	defer stdout.Close()
	r.client.process, r.feed = child, newFeed(child.Stdin())
	defer func() {
		if stays == nil {
			r.finish() // for a panic of the callbacks; else it was done before
		}
	}()
	return r.send(child, stdout)
}

// send records that the client runs, sends it the prompt, and follows it.
func (r *follower) send(child *runner.Child, stdout *os.File) (runner.Outcome, runner.Warm) {
	// The client starts meanwhile.
	if err := r.makeRoom(); err != nil {
		r.finish()
		return r.never(runner.NoResources, err.Error(), lookAtDisk), nil
	}
	if r.turn.Started != nil {
		if err := r.turn.Started(child.Process()); err != nil {
			// Nothing was sent, so no work was done.
			r.finish()
			return r.never(runner.Failed, "the turn could not be recorded: "+err.Error(), "look at the disk"), nil
		}
	}
	if t := r.turn; t.Tools != nil && !r.client.warm {
		r.hold(promptLine(t))
	} else {
		r.feed.send(promptLine(t))
	}
	out := r.follow(stdout)
	if !r.over.rests {
		return out, nil
	}
	return out, &warm{child: child, feed: r.feed, turn: r.turn, timing: r.timing, place: r.over.place}
}

// start opens the files and starts the client. The file is its output, to be read.
func (b *backend) start(ctx context.Context, t runner.Turn) (*runner.Child, *os.File, error) {
	const fresh = os.O_CREATE | os.O_TRUNC | os.O_APPEND | os.O_WRONLY
	stdout, err := os.OpenFile(t.Stdout, fresh, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer stdout.Close()
	stderr, err := os.OpenFile(t.Stderr, fresh, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer stderr.Close()
	out, err := os.Open(t.Stdout)
	if err != nil {
		return nil, nil, err
	}
	args := append(command(t), arguments(t)...)
	if takesUp(t) && b.features.has(ctx, t, snapshotFlag) {
		args = append(args, string(snapshotFlag), "off")
	}
	child, err := runner.Start(runner.Command{
		Args: args, Dir: t.Spec.Dir, Env: environment(t), Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		out.Close()
		return nil, nil, &startFailure{err}
	}
	return child, out, nil
}

// Follow takes up a turn of an earlier daemon.
func (b *backend) Follow(ctx context.Context, t runner.Turn, p runner.Process) runner.Outcome {
	r := b.newFollower(ctx, t)
	r.client.followed = true
	out, err := openAt(t.Stdout, t.From.Offset)
	if err != nil {
		// A client without its file can report nothing any more; it must not run beside the
		// next attempt.
		if adopted, alive := runner.Adopt(p); alive {
			r.client.process = adopted
		}
		r.finish()
		return r.never(runner.NoResult, "the output of the earlier daemon's turn is gone: "+err.Error(), "")
	}
	defer out.Close()
	if adopted, alive := runner.Adopt(p); alive {
		r.client.process = adopted
	}
	defer r.finish()
	return r.follow(out)
}

// never is the outcome of a turn that did not begin.
func (r *follower) never(end runner.End, reason, hint string) runner.Outcome {
	return runner.Outcome{End: end, Reason: oneLine(reason), Hint: hint, Exit: r.over.exit, Began: r.began, Ended: time.Now()}
}

// openAt opens a file to be read from offset on.
func openAt(path string, offset int64) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// follow reads the client's output to its end, and makes sure that it ends; if the client
// stays, to the result of the turn.
func (r *follower) follow(out *os.File) runner.Outcome {
	defer r.poll.Stop()
	dec := streamjson.NewDecoder(&watched{r, runner.NewTail(out, r.wait)}, 0)
	var broken error
	for {
		ev, err := dec.Next()
		if ev != nil {
			r.observe(ev)
		}
		if err != nil {
			broken = err
			break
		}
		if r.over.rests {
			break
		}
	}
	if !r.over.rests {
		// Usually the client has ended. If its file cannot be read, it is ended here.
		r.finish()
	}
	o := runner.Outcome{Exit: r.over.exit, Began: r.began, Ended: time.Now(), Stream: dec.Stats()}
	r.account.Fill(&o)
	r.over.place = r.account.Place(r.turn.From.Offset + dec.Offset())
	r.over.stderr = tailOf(r.turn.Stderr, 8<<10)
	boundFile(r.turn.Stderr) // it may have printed much since the last look
	v := r.proven(r.judge())
	if isReadError(broken) && !v.end.OK() {
		v = verdict{end: runner.Failed, reason: "the client's output could not be read: " + broken.Error(), hint: "look at the disk"}
	}
	if (r.output.flooded || r.output.read > r.output.most) && !v.end.OK() {
		os.Truncate(r.turn.Stdout, r.turn.From.Offset+maxStderr) // its beginning tells enough, and the next attempt may flood too
	}
	o.Steered = r.steeredDone()
	o.End, o.Reason, o.Hint, o.ResetAt, o.Unknown = v.end, oneLine(v.reason), v.hint, v.resetAt, v.unknown
	if o.Text == "" {
		o.Text = r.lastWords()
	}
	return o
}

// finish ends all processes of the turn. One call is enough.
func (r *follower) finish() {
	switch {
	case r.over.finished:
	case r.client.process != nil:
		if r.feed != nil {
			r.feed.close()
		}
		r.over.exit = r.client.process.Finish(r.turn.Mark(), r.timing.Leftovers)
	default:
		r.over.exit = runner.Exit{ExitCode: -1, Leftovers: runner.EndLeftovers(r.turn.Mark(), r.timing.Leftovers)}
	}
	_ = runner.ReleaseRoom(r.turn.Stdout) // else it is taken until the turn is rotated away
	r.over.finished = true
}

const lookAtDisk = "look at the disk and at the rights of the folder"

// A startFailure is an error of starting the client, not of our own files.
type startFailure struct{ err error }

func (e *startFailure) Error() string { return e.err.Error() }
func (e *startFailure) Unwrap() error { return e.err }

// startError is the outcome of a failed start.
func startError(t runner.Turn, err error) (end runner.End, reason, hint string) {
	if _, ok := errors.AsType[*startFailure](err); !ok {
		return runner.NoResources, err.Error(), lookAtDisk
	}
	program := command(t)[0]
	if info, serr := os.Stat(t.Spec.Dir); serr != nil || !info.IsDir() {
		return runner.Refused, "the working folder " + t.Spec.Dir + " is not there", fmt.Sprintf("make it, or change cwd: of agent %s", t.Agent)
	}
	switch {
	case isTransient(err):
		return runner.NoResources, "the system could not start " + program + ": " + err.Error(), "the machine is out of processes or memory; lower max_running"
	case isMissing(err):
		return runner.Refused, program + " is not installed: " + err.Error(),
			"npm install -g @anthropic-ai/claude-code, or set command: of agent " + t.Agent
	}
	return runner.Refused, program + " cannot be run: " + err.Error(), "check command: of agent " + t.Agent
}
