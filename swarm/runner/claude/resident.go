package claude

import (
	"context"
	"errors"
	"io"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Serve runs a turn and keeps its client running for the next turn if possible.
func (b *backend) Serve(ctx context.Context, t runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	if w, ok := c.(*warm); ok {
		return b.goOn(ctx, t, w)
	}
	// A client with a cap cannot stay, because the cap applies to everything that its
	// process spends.
	_, own := capInCommand(t.Spec.Command)
	return b.begin(ctx, t, !own && capOf(t) == 0)
}

// goOn runs a turn in a waiting client.
func (b *backend) goOn(ctx context.Context, t runner.Turn, w *warm) (runner.Outcome, runner.Warm) {
	r := b.newFollower(ctx, t)
	defer r.run.Close()
	r.keep, r.warm = true, true
	if out, ok := r.run.GoOn(w.Warm); !ok {
		return out, nil
	}
	r.sendPrompt(promptLine(t))
	return r.follow()
}

// mayRest reports whether the client, after the result of its turn, can run another turn.
// It returns false after anything unusual, because starting a new client is always safe.
func (r *follower) mayRest() bool {
	asked, account := r.turn.Session, &r.run.Account
	return r.keep && r.run.MayStay() && !r.own().IsError &&
		len(account.Results()) == r.seen.before+1 && // the client has not begun another turn on its own
		!r.steering.missing() &&
		!r.seen.replay.IsZero() && // otherwise the results of two turns could not be distinguished
		r.seen.tasks.none() &&
		account.Compacted() == 0 &&
		(asked.How == runner.Continue || account.Session() == asked.ID) // /clear starts another session
}

// warm is a client that is waiting for its next turn.
type warm struct{ *follow.Warm }

// mostUnasked is the maximum amount of output between two turns that Stirs reads, in
// bytes. If a client has printed more, Stirs returns true.
const mostUnasked = 1 << 20

// Stirs reports whether the client has begun a turn that was not requested. It reads the
// output since the result and ignores events such as status changes.
func (w *warm) Stirs() bool {
	f, err := w.Unasked()
	if err != nil {
		return true // we could not read the output of the next turn either
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
