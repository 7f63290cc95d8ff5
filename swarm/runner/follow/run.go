package follow

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Options configures how clients are followed. The zero value is ready to use.
type Options struct {
	Timing runner.Timing
	// MaxOutput is the maximum output of a client in one turn, in bytes; 0 means 1 GiB. A
	// turn with more output is stopped, because a client stuck in a loop would fill the
	// disk.
	MaxOutput int64
	// Terminates means that a client that does not exit after its input is closed first
	// gets SIGTERM, and is killed only if it is still running after Timing.Terminate. It
	// is used for clients that leave files or processes behind if they are killed.
	Terminates bool
}

// or replaces the zero values in o with the defaults.
func (o Options) or() Options {
	o.Timing = o.Timing.Or(runner.DefaultTiming())
	o.MaxOutput = cmp.Or(o.MaxOutput, 1<<30)
	return o
}

// A Protocol implements the part of a turn that depends on the dialogue with the client. A
// Run calls it in the goroutine of the turn.
type Protocol interface {
	// Tick performs the actions of the protocol that are due. It is called before each
	// read of the output, after each [Run.Wake], and at Due, but not while the client is
	// being terminated or while it is expected to exit.
	Tick(now time.Time)
	// Due returns when Tick must be called even if the client prints nothing; zero means
	// never.
	Due() time.Time
	// Working reports whether time counts toward the limits of the turn. It returns
	// false before the client has its prompt.
	Working() bool
	// Late returns the verdict on a turn that is stopped because it takes too long or is
	// silent for too long. v assumes that the turn is the cause, but the protocol may
	// have found another cause.
	Late(v Verdict) Verdict
	// Cancel sends the client a request to cancel the turn, and reports whether the
	// protocol has such a request. If it returns true, the client's input stays open;
	// otherwise the client gets SIGINT. In both cases, a client that does not exit within
	// Timing.Interrupt gets SIGTERM.
	Cancel() bool
}

// A Run follows one client through one turn. Only the turn's goroutine uses it, except
// for Wake. The caller must close it.
type Run struct {
	// Account adds up the events of the turn. The caller passes it each event.
	Account runner.Account

	ctx      context.Context // the context of the turn; done when the turn has to stop
	turn     runner.Turn
	kind     *runner.Kind
	options  Options
	protocol Protocol
	began    time.Time

	child   *runner.Child // the client's process if we started it; otherwise nil
	process runner.Client // nil if the client is dead
	feed    *feed         // nil if we do not own the client's standard input
	ladder  runner.Ladder
	cause   Verdict // why the client is being terminated; zero if it is not

	output output
	quiet  quiet
	woken  woken
	over   over
}

// over is the state of a client whose turn is over: the client is about to end, has
// ended, or keeps running for the next turn.
type over struct {
	closing  time.Time // when to end a client that does not exit; zero means never
	atOnce   bool      // at that time it gets SIGTERM
	stays    bool      // the client is a Warm now
	finished bool      // no process of the turn is running anymore, and exit is set
	exit     runner.Exit
}

// New returns a Run for a turn. It does not start the client.
func New(ctx context.Context, t runner.Turn, kind *runner.Kind, p Protocol, o Options) *Run {
	o = o.or()
	now := time.Now()
	return &Run{
		Account: runner.NewAccount(kind, t.From),
		ctx:     ctx, turn: t, kind: kind, options: o, protocol: p, began: now,
		ladder: runner.Ladder{Timing: o.Timing},
		quiet:  quiet{last: now},
		woken:  woken{rung: true, extra: make(chan struct{}, 1), poll: newPoller(o.Timing.Poll)},
	}
}

// Start starts a client and reports it to [runner.Turn].Started. The first element of
// args is the program. If Start returns false, nothing was sent, no process is running,
// and the outcome contains the reason.
func (r *Run) Start(args, env []string) (runner.Outcome, bool) {
	child, err := r.start(args, env)
	if err != nil {
		return r.Never(startError(r.turn, r.kind, args[0], err)), false
	}
	r.own(child, newFeed(child.Stdin()))
	return r.record()
}

// GoOn begins the next turn in a client that has stayed. From then on, the Run owns the
// client. Like Start, GoOn returns false if the turn cannot begin, for example because
// the client has ended in the meantime.
func (r *Run) GoOn(w *Warm) (runner.Outcome, bool) {
	r.own(w.child, w.feed)
	out, err := openAt(r.turn.Stdout, r.turn.From.Offset)
	if err != nil {
		// The client's output cannot be read, and nothing was sent.
		r.Finish()
		return r.Never(Verdict{End: runner.ClientGone, Reason: err.Error(), Hint: hintAnother}), false
	}
	r.output.file = out
	select {
	case <-w.child.Exited():
		r.Finish()
		return r.Never(Gone("has ended")), false
	default:
	}
	return r.record()
}

func (r *Run) own(child *runner.Child, f *feed) { r.child, r.process, r.feed = child, child, f }

// record reserves disk space for the client's output, and calls [runner.Turn].Started.
// Meanwhile, the client is starting up.
func (r *Run) record() (runner.Outcome, bool) {
	if err := r.output.makeRoom(r.turn.Stdout); err != nil {
		r.Finish()
		return r.Never(Verdict{End: runner.NoResources, Reason: err.Error(), Hint: HintDisk}), false
	}
	if r.turn.Started != nil {
		if err := r.turn.Started(r.process.Process()); err != nil {
			r.Finish()
			return r.Never(Verdict{End: runner.Failed, Reason: "the turn could not be recorded: " + err.Error(), Hint: "check the disk"}), false
		}
	}
	return runner.Outcome{}, true
}

// Adopt follows a client that an earlier daemon started, whether it is alive or dead. We
// cannot write to its input. If the client's output file is missing, Adopt terminates all
// processes of the turn and returns false.
func (r *Run) Adopt(p runner.Process) (runner.Outcome, bool) {
	out, err := openAt(r.turn.Stdout, r.turn.From.Offset)
	if adopted, alive := runner.Adopt(p, r.turn.Mark()); alive {
		r.process = adopted
	}
	if err != nil {
		// A client without its output file cannot report anything, and it must not run at
		// the same time as the next attempt.
		r.Finish()
		return r.Never(Verdict{End: runner.NoResult, Reason: "the output of the earlier daemon's turn is gone: " + err.Error()}), false
	}
	r.output.file = out
	return runner.Outcome{}, true
}

// Close closes the files. Unless the client stays, it also terminates the processes that
// are still running.
func (r *Run) Close() {
	r.woken.poll.Stop()
	if r.output.file != nil {
		r.output.file.Close()
	}
	if !r.over.stays {
		r.Finish() // necessary after a failed start, or if a panic prevented the caller from calling Finish
	}
}

// Send queues a line for the client. The line must include its newline. Send does not
// wait for the client to read the line. It does nothing if we cannot write to the
// client's input.
func (r *Run) Send(line []byte) {
	if r.feed != nil {
		r.feed.send(line)
	}
}

// CanSend reports whether we can write to the client's input.
func (r *Run) CanSend() bool { return r.feed != nil }

// Stopped reports whether the turn has to stop because its context is done.
func (r *Run) Stopped() bool { return r.ctx.Err() != nil }

// Finish terminates all processes of the turn. It can be called several times.
func (r *Run) Finish() {
	switch {
	case r.over.finished:
		return
	case r.process != nil:
		if r.feed != nil {
			r.feed.close()
		}
		r.over.exit = r.process.Finish(r.options.Timing.Leftovers)
	default:
		r.over.exit = runner.Exit{ExitCode: -1, Leftovers: runner.EndLeftovers(r.turn.Mark(), r.options.Timing.Leftovers)}
	}
	_ = runner.ReleaseRoom(r.turn.Stdout) // after an error, the space remains reserved until the turn's files are removed
	r.over.finished = true
}

// Exit returns how the client ended. It is valid after Finish.
func (r *Run) Exit() runner.Exit { return r.over.exit }

// Outcome returns the outcome of a turn whose output has been read. It combines the verdict
// with the data from the account. broken is the error that ended reading, if any.
func (r *Run) Outcome(v Verdict, broken error) runner.Outcome {
	if broken != nil && !errors.Is(broken, io.EOF) && !v.End.OK() {
		v = Verdict{End: runner.Failed, Reason: "the client's output could not be read: " + broken.Error(), Hint: "check the disk"}
	}
	if r.flooded() && !v.End.OK() {
		os.Truncate(r.turn.Stdout, r.turn.From.Offset+maxStderr) // the beginning is sufficient, and the next attempt may print too much as well
	}
	boundFile(r.turn.Stderr) // the file may have grown since the last check
	o := runner.Outcome{End: v.End}
	r.Account.Fill(&o)
	r.fill(&o, v)
	return o
}

// Never returns the outcome of a turn that did not begin.
func (r *Run) Never(v Verdict) runner.Outcome {
	var o runner.Outcome
	r.fill(&o, v)
	return o
}

func (r *Run) fill(o *runner.Outcome, v Verdict) {
	o.End, o.Reason, o.Hint, o.ResetAt, o.Unknown, o.Rejected, o.Crashed = v.End, OneLine(v.Reason), v.Hint, v.ResetAt, v.Unknown, v.Rejected, v.Crashed
	o.Service = v.Service
	o.Exit, o.Began, o.Ended = r.over.exit, r.began, time.Now()
}
