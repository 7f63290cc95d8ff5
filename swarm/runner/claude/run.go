package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// observe takes in one event.
func (r *follower) observe(ev *streamjson.Event) {
	now := time.Now()
	if now.After(r.seen.last) {
		r.seen.last = now
	}
	r.watch.sampleAt = time.Time{}
	if isToolsAnswer(ev) {
		r.toolsAnswer(ev, now)
		return
	}
	if ev.Kind == streamjson.KindCommand {
		// No event of the turn: what became of an earlier prompt comes behind its result,
		// and a prompt that is queued is not taken in.
		r.command(ev.Command, now)
		return
	}
	r.account.Observe(ev)
	r.seen.after = !r.seen.replay.IsZero()
	switch ev.Kind {
	case streamjson.KindAssistant, streamjson.KindPartial, streamjson.KindUser, streamjson.KindResult:
		r.seen.asking = false
	}
	switch ev.Kind {
	case streamjson.KindReplay:
		if r.seen.replay.IsZero() && ev.UUID == r.turn.UUID {
			if r.client.warm && len(r.account.Results()) > 0 {
				r.account.Restart() // what it did unasked is not part of this turn
				r.account.Observe(ev)
			}
			r.seen.replay, r.seen.before = now, len(r.account.Results())
		}
		r.steering.repeated(ev.UUID, len(r.account.Results()))
	case streamjson.KindInit:
		if !r.seen.init {
			r.initSays(ev, now)
		}
		r.seen.init = true
		if ev.Init != nil {
			r.seen.source = strings.Clone(ev.Init.KeySource)
		}
		r.seen.closing = time.Time{} // a turn that the client began by itself
		r.seen.tasks.speaking = true
	case streamjson.KindAssistant:
		r.seen.problem = strings.Clone(ev.Error)
		if r.seen.api = (streamjson.APIError{}); ev.APIError != nil {
			r.seen.api = *ev.APIError // decoded by encoding/json, so it stays valid
		}
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockText && ev.Parent == "" {
				r.seen.words = strings.Clone(b.Text)
			}
		}
		r.hurry(ev, now)
	case streamjson.KindRetry:
		r.retry(ev.Retry, now)
	case streamjson.KindUser:
		r.seen.tasks.answered(ev.Blocks)
	case streamjson.KindTask:
		r.seen.tasks.observe(ev.Task)
		r.settle(now)
	case streamjson.KindOther:
		r.rateLimit(ev.Raw)
	case streamjson.KindResult:
		r.seen.tasks.speaking = false
		if r.seen.tasks.delegated && len(r.steering.lines) == 0 {
			r.account.Interim()
		}
		r.settle(now)
	}
	if r.turn.Event != nil {
		r.turn.Event(ev)
	}
}

// own is the result that belongs to our prompt: the first one behind the line
// that repeats it, or the very first one when no such line came. A client that had
// earlier turns repeats each prompt, and a result without that is of another.
func (r *follower) own() *streamjson.Result {
	if r.client.warm && r.seen.replay.IsZero() {
		return nil
	}
	results := r.account.Results()
	if len(results) <= r.seen.before {
		return nil
	}
	return &results[r.seen.before]
}

// settle ends the turn when it is complete: it has its result, and the client does not
// continue with a message, command or sub-agent.
func (r *follower) settle(now time.Time) {
	switch {
	case r.own() == nil, r.seen.tasks.speaking, !r.seen.closing.IsZero(), r.over.rests:
	case r.steering.open(len(r.account.Results()), now, r.timing.Steer): // it goes on with that
	case r.seen.tasks.behind() > 0: // the client begins a turn when one ends
	case r.mayRest():
		r.over.rests = true
	default:
		r.closeInput(now)
	}
}

// retry notes that the client will ask the API again: until then it is silent.
func (r *follower) retry(retry *streamjson.Retry, now time.Time) {
	if retry == nil {
		return
	}
	r.seen.last = now.Add(retry.Delay)
	r.seen.asking = true
	if retry.Status != 401 && retry.Status != 403 {
		return
	}
	// One refusal may be a login that is just being renewed.
	if r.seen.refusals++; r.seen.refusals >= 2 {
		r.end(r.evidence().refusedByAPI(retry.Status), now)
	}
}

// rateLimit reads when a limit ends from an event that subscriptions get.
func (r *follower) rateLimit(raw []byte) {
	if !bytes.Contains(raw, []byte(`"rate_limit_event"`)) {
		return
	}
	var ev struct {
		Info struct {
			Status   string `json:"status"`
			ResetsAt int64  `json:"resetsAt"`
		} `json:"rate_limit_info"`
	}
	if json.Unmarshal(raw, &ev) == nil && ev.Info.Status == "rejected" && ev.Info.ResetsAt > 0 {
		r.seen.resetAt = time.Unix(ev.Info.ResetsAt, 0)
	}
}

// closeInput tells the client that its work is done.
func (r *follower) closeInput(now time.Time) {
	if r.feed != nil {
		r.feed.close()
	}
	r.seen.closing = now.Add(r.timing.Close)
}

// end begins to end the client, for the first cause only.
func (r *follower) end(cause verdict, now time.Time) {
	if r.client.process == nil || r.ladder.Begun() {
		return
	}
	r.cause = cause
	r.ladder.Begin(r.client.process, now)
	if r.feed != nil {
		r.feed.close()
	}
}

// hurry ends a client sooner that begins a tool call after it was interrupted: it has not
// heard that, which Claude Code 2.1.197 was seen to do around its first request.
func (r *follower) hurry(ev *streamjson.Event, now time.Time) {
	if r.client.process == nil || !r.ladder.Begun() {
		return
	}
	if slices.ContainsFunc(ev.Blocks, func(b streamjson.Block) bool { return b.Kind == streamjson.BlockToolUse }) {
		r.ladder.Hurry(r.client.process, now)
	}
}

// tick does the steps that are due. It is called before every read and after every wait, so
// it reaches both a client that never stops printing and a silent one.
func (r *follower) tick(now time.Time) {
	if r.client.process == nil {
		return
	}
	r.ladder.Climb(r.client.process, now)
	if now.After(r.watch.stderrAt) {
		r.watch.stderrAt = now.Add(100 * time.Millisecond)
		boundFile(r.turn.Stderr)
		// A client can print faster than its output is read.
		if info, err := os.Stat(r.turn.Stdout); err == nil {
			r.output.flooded = r.output.flooded || info.Size()-r.turn.From.Offset > r.output.most
			r.watch.cramped = r.room.Keep(r.turn.Stdout, info.Size()) != nil || r.watch.cramped
		}
	}
	if !r.seen.closing.IsZero() {
		if now.After(r.seen.closing) {
			r.ladder.BeginAtKill(r.client.process, now) // it has done its work, so it is not a failure
		}
		if r.ctx.Err() == nil {
			return
		}
	}
	if r.ladder.Begun() {
		return
	}
	r.prove(now)
	r.steer()
	if u := r.steering.until; !u.IsZero() && r.seen.closing.IsZero() && r.seen.tasks.behind() == 0 && !r.steering.open(len(r.account.Results()), now, r.timing.Steer) {
		r.closeInput(now) // what came too late is not read any more
		return
	}
	silent := now.Sub(r.seen.last)
	spec := r.turn.Spec
	if r.proof.holds() {
		spec.Timeout, spec.Stall = 0, 0 // nothing of the turn has begun
	}
	switch {
	case r.output.flooded || r.output.read > r.output.most:
		r.end(verdict{end: runner.Failed, reason: fmt.Sprintf("the client printed more than %d MiB", r.output.most>>20), hint: "look at the beginning of " + r.turn.Stdout}, now)
	case r.ctx.Err() != nil:
		r.end(verdict{end: runner.Stopped, reason: "the turn was stopped", hint: goesBack}, now)
	case spec.Timeout > 0 && now.Sub(r.began) >= spec.Timeout:
		r.end(r.unlessAway(verdict{end: runner.TimedOut, reason: "the turn took longer than " + spec.Timeout.String(),
			hint: "give it less to do at once, or raise turn_timeout"}), now)
	case !r.client.followed && !r.seen.replay.IsZero() && !r.seen.after && !r.seen.init && silent >= r.timing.PromptNotRun:
		r.end(promptNotRun(), now)
	case r.client.warm && !r.client.followed && r.seen.replay.IsZero() && !r.seen.taken && !r.seen.init && silent >= r.timing.PromptNotRun && r.idle(now):
		r.cause = gone("is silent")
		r.ladder.BeginAtKill(r.client.process, now) // it has nothing to finish
	case r.watch.cramped && silent >= crampedPatience*r.timing.PromptNotRun && r.idle(now):
		// Also with a tool call open: its end may be what was lost.
		r.end(verdict{end: runner.Stopped, reason: "the disk was full, and what the client said is lost", hint: goesBack}, now)
	case spec.Stall > 0 && silent >= spec.Stall && r.account.OpenCalls() == 0 && r.idle(now):
		r.end(r.unlessAway(verdict{end: runner.Stalled, reason: "no sign of life for " + silent.Round(time.Second).String(),
			hint: "claude-swarm logs " + r.turn.Agent + " shows what it did last"}), now)
	}
}

// crampedPatience is how many times longer than a client that does not take its
// prompt one may be silent whose disk was full. It may have said all that it had to.
const crampedPatience = 6

// makeRoom sets room aside for the first that a turn prints.
func (r *follower) makeRoom() error {
	info, err := os.Stat(r.turn.Stdout)
	if err != nil {
		return err
	}
	return r.room.Keep(r.turn.Stdout, info.Size())
}

// busyShare is the share of one core above which a turn counts as busy. A client
// that waits uses less than 1 %.
const busyShare = 0.02

// idle measures, over two calls, whether the turn's processes use the processor. One
// that waits for a processor is not idle: on a machine with too much to do it uses none.
func (r *follower) idle(now time.Time) bool {
	switch {
	case r.watch.sampleAt.IsZero():
		r.watch.sample = runner.CPUTime(r.turn.Mark())
		r.watch.sampleAt = now.Add(r.timing.Sample)
		return false
	case now.Before(r.watch.sampleAt):
		return false
	}
	over := now.Sub(r.watch.sampleAt) + r.timing.Sample
	used := runner.CPUTime(r.turn.Mark()) - r.watch.sample
	r.watch.sampleAt = time.Time{} // if it was busy, begin again
	return used < time.Duration(busyShare*float64(over)) && !runner.Runnable(r.turn.Mark())
}

// wait blocks until it is worth looking at the file again, and reports whether
// the client may still write to it.
func (r *follower) wait() bool {
	if r.client.process == nil {
		return false
	}
	timer := r.poll.next(r.due())
	stop := r.ctx.Done()
	if r.ladder.Begun() || r.ctx.Err() != nil {
		stop = nil // known already
	}
	var bell <-chan struct{}
	if r.turn.Steering != nil {
		bell = r.turn.Steering.Wake
	}
	select {
	case <-r.client.process.Exited():
		return false
	case <-bell:
		r.steering.rung = true
	case _, open := <-r.turn.Grown:
		if !open {
			r.turn.Grown = nil // nobody rings any more: look by ourselves
		}
		r.poll.reset()
	case <-timer:
	case <-stop:
	}
	r.tick(time.Now())
	return true
}

// due is when the ladder or the closing must be looked at.
func (r *follower) due() time.Time {
	due := r.ladder.Due()
	if c := r.seen.closing; !c.IsZero() && (due.IsZero() || c.Before(due)) {
		due = c
	}
	if u := r.steering.until; !u.IsZero() && r.seen.closing.IsZero() && r.seen.tasks.behind() == 0 && (due.IsZero() || u.Before(due)) {
		due = u
	}
	if p := r.proofDue(); !p.IsZero() && (due.IsZero() || p.Before(due)) {
		due = p
	}
	return due
}

// lastWords are the model's last words, for a turn without a result.
func (r *follower) lastWords() string { return strings.TrimSpace(r.seen.words) }

// watched is the client's output, with a tick before every read.
type watched struct {
	run  *follower
	tail *runner.Tail
}

func (w *watched) Read(p []byte) (int, error) {
	w.run.tick(time.Now())
	if w.run.output.flooded || w.run.output.read > w.run.output.most {
		return 0, io.EOF // the rest is not worth reading, and the client is killed at once
	}
	n, err := w.tail.Read(p)
	if n > 0 {
		w.run.output.read += int64(n)
		w.run.poll.reset()
	}
	return n, err
}

// maxStderr is how much of the standard error is kept, in bytes: its beginning
// and its newest part. Of a flood on the standard output the beginning is kept.
const (
	maxStderr  = 4 << 20
	keptStderr = 1 << 20
)

// boundFile cuts a file that has grown too long. The client appends, so it goes
// on behind what is kept.
func boundFile(path string) {
	if info, err := os.Stat(path); err == nil && info.Size() > maxStderr {
		os.Truncate(path, keptStderr)
	}
}
