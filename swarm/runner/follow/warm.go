package follow

import (
	"context"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// MayStay reports whether the client can take another turn, judging by its process and its
// output.
func (r *Run) MayStay() bool {
	return r.child != nil && !r.ladder.Begun() && !r.Closing() && !r.Stopped() &&
		!r.output.flooded && r.turn.From.Offset+r.output.read < r.options.MaxOutput/4 // the file grows with every turn
}

// Stay ends the Run but not the client. The parameter "read" is the number of bytes of
// Output that belong to the turn. The client's next turn begins after them.
func (r *Run) Stay(read int64) *Warm {
	r.over.stays = true
	place := r.Account.Place(r.turn.From.Offset + read)
	return &Warm{child: r.child, feed: r.feed, turn: r.turn, options: r.options, place: place}
}

// A Warm is a client that waits for its next turn. It keeps the output file and the mark of
// its first turn. It has all methods of [runner.Warm] except Stirs.
type Warm struct {
	child   *runner.Child
	feed    *feed
	turn    runner.Turn
	options Options
	place   runner.Place
}

// Process returns the client's process.
func (w *Warm) Process() runner.Process { return w.child.Process() }

// Exited returns a channel that is closed when the client has ended.
func (w *Warm) Exited() <-chan struct{} { return w.child.Exited() }

// Place returns where the next turn begins.
func (w *Warm) Place() runner.Place { return w.place }

// Unasked opens the output that the client has printed since its last turn ended. The
// caller closes it.
func (w *Warm) Unasked() (*os.File, error) { return openAt(w.turn.Stdout, w.place.Offset) }

// Close closes the client's input, as after any turn, and gives the client Timing.Close
// to exit. Then it ends all processes that are still running.
func (w *Warm) Close(ctx context.Context) runner.Exit {
	w.feed.close()
	timing := w.options.Timing
	if !w.exits(ctx, timing.Close) && w.options.Terminates {
		w.child.Terminate()
		w.exits(ctx, timing.Terminate)
	}
	exit := w.child.Finish(timing.Leftovers)
	_ = runner.ReleaseRoom(w.turn.Stdout)
	return exit
}

// exits waits for the client to end, at most for patience or until ctx is done, and reports
// whether the client has ended.
func (w *Warm) exits(ctx context.Context, patience time.Duration) bool {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.child.Exited():
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
