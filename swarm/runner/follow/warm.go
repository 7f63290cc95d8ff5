package follow

import (
	"context"
	"os"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// MayStay reports whether the state of the client's process and output allows another
// turn.
func (r *Run) MayStay() bool {
	return r.child != nil && !r.ladder.Begun() && !r.Closing() && !r.Stopped() &&
		!r.output.flooded && r.turn.From.Offset+r.output.read < r.options.MaxOutput/4 // the file grows with every turn
}

// Stay ends the Run but not the client. read is the number of bytes of Output that belong
// to the turn. The client's next turn begins after those bytes.
func (r *Run) Stay(read int64) *Warm {
	r.over.stays = true
	place := r.Account.Place(r.turn.From.Offset + read)
	return &Warm{child: r.child, feed: r.feed, turn: r.turn, options: r.options, place: place}
}

// A Warm is a client that is waiting for its next turn. It keeps the output file and the
// mark of its first turn. It implements all methods of [runner.Warm] except Stirs.
type Warm struct {
	child   *runner.Child
	feed    *feed
	turn    runner.Turn
	options Options
	place   runner.Place
}

// Process returns the client's process.
func (w *Warm) Process() runner.Process { return w.child.Process() }

// Exited returns a channel that is closed when the client has exited.
func (w *Warm) Exited() <-chan struct{} { return w.child.Exited() }

// Place returns where the next turn begins.
func (w *Warm) Place() runner.Place { return w.place }

// Unasked opens the output file at the end of the client's last turn. The caller must
// close the file.
func (w *Warm) Unasked() (*os.File, error) { return openAt(w.turn.Stdout, w.place.Offset) }

// Close closes the client's input, as after any turn, and waits up to Timing.Close for
// the client to exit. Then it terminates all processes that are still running.
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

// exits waits until the client has exited, patience has elapsed or ctx is done. It
// reports whether the client has exited.
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
