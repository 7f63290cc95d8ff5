package follow

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// tick performs the actions that are due. It is called before every read and after every
// wait, so it runs both when the client never stops printing and when it is silent.
func (r *Run) tick(now time.Time) {
	if r.process == nil {
		return
	}
	r.ladder.Climb(r.process, now)
	r.lookAtFiles(now)
	if r.Closing() {
		r.overdue(now)
		if !r.Stopped() {
			return
		}
	}
	if r.ladder.Begun() {
		return
	}
	spec := r.turn.Spec
	switch took := now.Sub(r.began); {
	case r.flooded():
		r.End(r.tooMuch(), now)
	case r.feed != nil && r.feed.isFull():
		r.Kill(Verdict{End: runner.Failed, Reason: "the client is not reading its input", Hint: "claude-swarm logs " + r.turn.Agent + " shows what it did last"}, now)
	case r.Stopped():
		r.End(Verdict{End: runner.Stopped, Reason: "the turn was stopped", Hint: HintGoesBack}, now)
	case spec.Timeout > 0 && took >= spec.Timeout && r.protocol.Working() && took-r.waited() >= spec.Timeout:
		r.End(r.protocol.Late(Verdict{End: runner.TimedOut, Reason: "the turn took longer than " + spec.Timeout.String(),
			Hint: "give it less work at a time, or raise turn_timeout"}), now)
	default:
		r.protocol.Tick(now)
		r.endSilent(now)
	}
}

// waited returns how long the turn has waited for answers.
func (r *Run) waited() time.Duration {
	if r.turn.Waited == nil {
		return 0
	}
	return r.turn.Waited()
}

// endSilent terminates a client that shows no sign of life.
func (r *Run) endSilent(now time.Time) {
	if r.ladder.Begun() || r.Closing() {
		return
	}
	silent := r.Silent(now)
	switch {
	case r.output.cramped && silent >= crampedPatience*r.options.Timing.PromptNotRun && r.Idle(now):
		// This applies even if a tool call is open, because its result may be in the
		// output that was lost.
		r.End(Verdict{End: runner.Stopped, Reason: "the disk was full, and what the client wrote is lost", Hint: HintGoesBack}, now)
	case r.protocol.Working() && r.Account.OpenCalls() == 0 && r.Stalls(now):
		r.End(r.protocol.Late(Verdict{End: runner.Stalled, Reason: "no sign of life for " + silent.Round(time.Second).String(),
			Hint: "claude-swarm logs " + r.turn.Agent + " shows what it did last"}), now)
	}
}

// Stalls reports whether the client has shown no sign of life for the turn's stall time, and
// is idle. A client that is waiting for a tool call may be silent for longer.
func (r *Run) Stalls(now time.Time) bool {
	stall := r.turn.Spec.Stall
	return stall > 0 && r.Silent(now) >= stall && r.Idle(now)
}

// crampedPatience is how long, once the disk has been full, a client may be silent
// before its turn is stopped, as a multiple of Timing.PromptNotRun. The time is short
// because the client may already have finished.
const crampedPatience = 6

// quiet measures how long the client has been silent.
type quiet struct {
	last     time.Time     // the time of the last event, or a later time from which silence is measured
	sampleAt time.Time     // when to read the CPU time a second time; zero before the first reading
	sample   time.Duration // the CPU time at the first reading
}

// Heard records a sign of life.
func (r *Run) Heard(now time.Time) {
	if now.After(r.quiet.last) {
		r.quiet.last = now
	}
	r.quiet.sampleAt = time.Time{}
}

// Expect sets the time from which silence is measured. It can be in the future if we know
// that the client will be silent until then.
func (r *Run) Expect(at time.Time) { r.quiet.last = at }

// Silent returns the time since the last sign of life.
func (r *Run) Silent(now time.Time) time.Duration { return now.Sub(r.quiet.last) }

// busyShare is the share of one CPU core above which a turn is considered busy. A waiting
// client uses less than 1%.
const busyShare = 0.02

// Idle reports whether the turn's processes use almost no CPU time. It measures the CPU
// time between two calls, so the first call returns false. A process that is waiting for
// a CPU is not idle, because on an overloaded machine it may have to wait a long time.
func (r *Run) Idle(now time.Time) bool {
	q := &r.quiet
	switch {
	case q.sampleAt.IsZero():
		q.sample = runner.CPUTime(r.turn.Mark())
		q.sampleAt = now.Add(r.options.Timing.Sample)
		return false
	case now.Before(q.sampleAt):
		return false
	}
	over := now.Sub(q.sampleAt) + r.options.Timing.Sample
	used := runner.CPUTime(r.turn.Mark()) - q.sample
	q.sampleAt = time.Time{} // measure again if the turn was busy
	return used < time.Duration(busyShare*float64(over)) && !runner.Runnable(r.turn.Mark())
}
