package runner

import "time"

// A Client is a running client, started by us or by an earlier daemon.
type Client interface {
	Process() Process
	Exited() <-chan struct{} // closed when the client has ended
	Interrupt()              // SIGINT to the leader
	Terminate()              // SIGTERM to the group
	Kill()                   // SIGKILL to the group
	Finish(grace time.Duration) Exit
}

// A Ladder terminates a client step by step. It uses no goroutine and no clock. The
// caller, which keeps reading the client's output, must call Climb at the time that Due
// returns. A Ladder is not safe for concurrent use.
//
//	Begin: SIGINT ── Interrupt ── SIGTERM to the group ── Terminate ── SIGKILL to the group
type Ladder struct {
	Timing Timing
	due    time.Time // zero if the ladder has not begun or no steps remain
	rung   int
}

// Begun reports whether the ladder has begun.
func (l *Ladder) Begun() bool { return l.rung > 0 }

// Due returns the time at which to call Climb next; zero means never.
func (l *Ladder) Due() time.Time { return l.due }

// Begin interrupts the client if the ladder has not begun yet.
func (l *Ladder) Begin(c Client, now time.Time) {
	if l.rung == 0 {
		l.climb(c, now)
	}
}

// BeginAtKill kills the group immediately. It is used for a client that has no work left
// to finish.
func (l *Ladder) BeginAtKill(c Client, now time.Time) {
	if l.rung < 3 {
		l.rung = 2
		l.climb(c, now)
	}
}

// BeginAtTerminate immediately sends SIGTERM to the group. It is used for a client that
// has done its work but does not exit, and that would leave files or processes behind if
// it were killed.
func (l *Ladder) BeginAtTerminate(c Client, now time.Time) {
	if l.rung < 2 {
		l.rung = 1
		l.climb(c, now)
	}
}

// Hurry sends SIGTERM immediately. It is used for a client that has ignored the
// interrupt.
func (l *Ladder) Hurry(c Client, now time.Time) {
	if l.rung == 1 {
		l.climb(c, now)
	}
}

// Climb takes the next step if it is due.
func (l *Ladder) Climb(c Client, now time.Time) {
	if !l.due.IsZero() && !now.Before(l.due) {
		l.climb(c, now)
	}
}

func (l *Ladder) climb(c Client, now time.Time) {
	t := l.Timing.Or(DefaultTiming())
	l.rung++
	switch l.rung {
	case 1:
		c.Interrupt()
		l.due = now.Add(t.Interrupt)
	case 2:
		c.Terminate()
		l.due = now.Add(t.Terminate)
	default:
		c.Kill()
		l.due = time.Time{}
	}
}
