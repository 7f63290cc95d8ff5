package claude

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Serve runs a turn and lets its client stay for the next one, if it can.
func (b *backend) Serve(ctx context.Context, t runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	if w, ok := c.(*warm); ok {
		return b.goOn(ctx, t, w)
	}
	return b.begin(ctx, t, true)
}

// goOn runs a turn in a waiting client.
func (b *backend) goOn(ctx context.Context, t runner.Turn, w *warm) (out runner.Outcome, stays runner.Warm) {
	r := b.newFollower(ctx, t)
	r.client.keep, r.client.warm = true, true
	r.client.process, r.feed = w.child, w.feed
	defer func() {
		if stays == nil {
			r.finish()
		}
	}()
	stdout, err := openAt(t.Stdout, t.From.Offset)
	if err != nil {
		// Its output cannot be read, and nothing was sent.
		r.finish()
		return r.never(runner.ClientGone, err.Error(), "nothing has to be done: another client is started"), nil
	}
	defer stdout.Close()
	select {
	case <-w.child.Exited():
		r.finish()
		v := gone("has ended")
		return r.never(v.end, v.reason, v.hint), nil
	default:
	}
	return r.send(w.child, stdout)
}

// mayRest tells, at the result of the turn, whether the client can take another. Anything
// unusual is a reason to start another client, which is always right.
func (r *follower) mayRest() bool {
	asked := r.turn.Session
	return r.client.keep && !r.own().IsError &&
		len(r.account.Results()) == r.seen.before+1 && // it has not gone on by itself
		!r.steering.missing() &&
		!r.seen.replay.IsZero() && // else the results of two turns could not be told apart
		r.seen.tasks.none() &&
		r.account.Compacted() == 0 &&
		(asked.How == runner.Continue || r.account.Session() == asked.ID) && // /clear makes another
		!r.ladder.Begun() && r.ctx.Err() == nil &&
		!r.output.flooded && r.turn.From.Offset+r.output.read < r.output.most/4 // the file grows with every turn
}

// A warm is a client whose last turn is over. Its file and mark are those of its
// first one, and so in turn.
type warm struct {
	child  *runner.Child
	feed   *feed
	turn   runner.Turn
	timing runner.Timing
	place  runner.Place
}

func (w *warm) Process() runner.Process { return w.child.Process() }
func (w *warm) Exited() <-chan struct{} { return w.child.Exited() }
func (w *warm) Place() runner.Place     { return w.place }

// mostUnasked bounds the output of a client between two turns, in bytes.
const mostUnasked = 1 << 20

// Stirs looks at what was printed since the result: notes do not matter, a turn
// that nobody asked for does.
func (w *warm) Stirs() bool {
	f, err := openAt(w.turn.Stdout, w.place.Offset)
	if err != nil {
		return true // nobody could read its next turn
	}
	defer f.Close()
	dec := streamjson.NewDecoder(io.LimitReader(f, mostUnasked), 0)
	for {
		ev, err := dec.Next()
		if err != nil {
			return !errors.Is(err, io.EOF) || dec.Offset() == mostUnasked
		}
		switch ev.Kind {
		case streamjson.KindInit, streamjson.KindAssistant, streamjson.KindPartial, streamjson.KindUser, streamjson.KindResult, streamjson.KindRetry, streamjson.KindCompact:
			return true
		}
	}
}

// Close lets the client end by itself, as after any turn.
func (w *warm) Close(ctx context.Context) runner.Exit {
	w.feed.close()
	timer := time.NewTimer(w.timing.Close)
	defer timer.Stop()
	select {
	case <-w.child.Exited():
	case <-timer.C:
	case <-ctx.Done():
	}
	exit := w.child.Finish(w.turn.Mark(), w.timing.Leftovers)
	_ = runner.ReleaseRoom(w.turn.Stdout)
	return exit
}
