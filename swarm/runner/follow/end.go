package follow

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// End starts the ladder, which terminates the client. Only the first cause is recorded.
func (r *Run) End(cause Verdict, now time.Time) {
	if r.process == nil || r.ladder.Begun() {
		return
	}
	r.cause = cause
	asked := &canceled{Client: r.process, cancel: r.protocol.Cancel}
	r.ladder.Begin(asked, now)
	if r.feed != nil && !asked.could {
		r.feed.close()
	}
}

// canceled is a client that gets SIGINT only if its protocol has no request to cancel the
// turn.
type canceled struct {
	runner.Client
	cancel func() bool
	could  bool
}

func (c *canceled) Interrupt() {
	if c.could = c.cancel(); !c.could {
		c.Client.Interrupt()
	}
}

// Kill kills the client immediately. It is used for a client that has no work to finish.
func (r *Run) Kill(cause Verdict, now time.Time) {
	if r.process == nil || r.ladder.Begun() {
		return
	}
	r.cause = cause
	r.ladder.BeginAtKill(r.process, now)
}

// Hurry immediately sends SIGTERM to a client that ignored the interrupt.
func (r *Run) Hurry(now time.Time) {
	if r.process != nil {
		r.ladder.Hurry(r.process, now)
	}
}

// Ending reports whether the client is being terminated by signals.
func (r *Run) Ending() bool { return r.ladder.Begun() }

// Cause returns why the client is being terminated. It returns the zero Verdict if the
// client is not being terminated, or if the only reason is that it kept running after its
// input was closed.
func (r *Run) Cause() Verdict { return r.cause }

// CloseInput closes the client's input to signal that its work is done. The client must
// then exit within Timing.Close.
func (r *Run) CloseInput(now time.Time) {
	if r.feed != nil {
		r.feed.close()
	}
	r.over.closing = now.Add(r.options.Timing.Close)
}

// CloseAtOnce does the same as CloseInput for a client that spends money as long as it
// runs. If the client does not exit within Timing.Leftovers, which is shorter, it gets
// SIGTERM.
func (r *Run) CloseAtOnce(now time.Time) {
	r.CloseInput(now)
	if at := now.Add(r.options.Timing.Leftovers); at.Before(r.over.closing) {
		r.over.closing = at
	}
	r.over.atOnce = true
}

// KeepOn lets a client continue even though its input is closed. It is used for a client
// that has begun a turn on its own. It has no effect after CloseAtOnce.
func (r *Run) KeepOn() {
	if !r.over.atOnce {
		r.over.closing = time.Time{}
	}
}

// Closing reports whether the client is expected to exit on its own.
func (r *Run) Closing() bool { return !r.over.closing.IsZero() }

// overdue terminates a client that has not exited in time after its input was closed. The
// client has done its work, so this is not a failure.
func (r *Run) overdue(now time.Time) {
	if !now.After(r.over.closing) {
		return
	}
	if r.options.Terminates || r.over.atOnce {
		r.ladder.BeginAtTerminate(r.process, now)
	} else {
		r.ladder.BeginAtKill(r.process, now)
	}
}
