package claude

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// observe handles one event.
func (r *follower) observe(ev *streamjson.Event) {
	now := time.Now()
	if isSpentAnswer(ev) {
		r.spentAnswer(ev)
		return
	}
	r.run.Heard(now)
	if isToolsAnswer(ev) {
		r.toolsAnswer(ev, now)
		return
	}
	if r.dropAnswer(ev) {
		return
	}
	if ev.Kind == streamjson.KindCommand {
		// The status of a prompt is not an event of the turn. It may be about an earlier
		// prompt whose result has arrived, or about a queued prompt that the client has
		// not read.
		r.command(ev.Command, now)
		return
	}
	r.run.Account.Observe(r.withAnswer(ev))
	r.seen.after = !r.seen.replay.IsZero()
	switch ev.Kind {
	case streamjson.KindAssistant, streamjson.KindPartial, streamjson.KindUser, streamjson.KindResult:
		r.seen.asking = false
	}
	switch ev.Kind {
	case streamjson.KindReplay:
		if r.seen.replay.IsZero() && ev.UUID == r.turn.UUID {
			if r.warm && len(r.run.Account.Results()) > 0 {
				r.run.Account.Restart() // work that was not requested is not part of this turn
				r.run.Account.Observe(ev)
			}
			r.seen.replay, r.seen.before = now, len(r.run.Account.Results())
		}
		r.steering.repeated(ev.UUID, len(r.run.Account.Results()))
	case streamjson.KindInit:
		if !r.seen.init {
			r.initSays(ev, now)
		}
		r.seen.init = true
		if ev.Init != nil {
			r.seen.source = strings.Clone(ev.Init.KeySource)
		}
		r.run.KeepOn() // the client may have begun this turn on its own
		r.seen.tasks.speaking, r.seen.tasks.stopped = true, false
	case streamjson.KindAssistant:
		r.seen.answers = true
		r.seen.problem = strings.Clone(ev.Error)
		if r.seen.api = (streamjson.APIError{}); ev.APIError != nil {
			r.seen.api = *ev.APIError // decoded by encoding/json, so it remains valid after the event
		}
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockText && ev.Parent == "" {
				r.seen.words = strings.Clone(b.Text)
			}
		}
		r.hurry(ev, now)
		r.steering.called(ev, now)
	case streamjson.KindRetry:
		r.retry(ev.Retry, now)
	case streamjson.KindUser:
		r.seen.tasks.answered(ev.Blocks)
		r.steering.called(ev, now)
		r.askSpent(now)
	case streamjson.KindTask:
		r.seen.tasks.observe(ev.Task)
		if r.cut() {
			r.run.Account.Lost() // no result contains what the stopped task cost since the last one
		}
		r.settle(now)
	case streamjson.KindOther:
		r.rateLimit(ev.Raw)
		r.hookRefuses(ev.Raw, now)
	case streamjson.KindResult:
		r.seen.tasks.speaking = false
		if ev.Result != nil {
			r.capReached(ev.Result, now)
			r.reportSpent(r.run.Account.CostUSD())
		}
		if r.seen.tasks.delegated && len(r.steering.lines) == 0 {
			r.run.Account.Interim()
		}
		r.settle(now)
	}
	if r.turn.Event != nil {
		r.turn.Event(ev)
	}
}

// own returns the result that belongs to our prompt: the first one after the line that
// repeats the prompt, or the very first result if there is no such line. A client that
// has run earlier turns repeats each prompt, so a result before that line belongs to
// another prompt.
func (r *follower) own() *streamjson.Result {
	if r.warm && r.seen.replay.IsZero() {
		return nil
	}
	results := r.run.Account.Results()
	if len(results) <= r.seen.before {
		return nil
	}
	return &results[r.seen.before]
}

// settle ends the turn if it is complete. A turn is complete when it has its result and
// the client will not continue with a message, command or sub-agent.
func (r *follower) settle(now time.Time) {
	switch {
	case r.own() == nil, r.seen.tasks.speaking, r.run.Closing(), r.rests:
	case r.steering.open(len(r.run.Account.Results()), now, r.timing.Steer): // the client continues with a message
	case r.seen.tasks.behind() > 0: // the client will begin a turn when a task ends
	case r.mayRest():
		r.rests = true
	default:
		r.run.CloseInput(now)
	}
}

// retry records that the client will retry a request after a delay and will be silent
// until then.
func (r *follower) retry(retry *streamjson.Retry, now time.Time) {
	if retry == nil {
		return
	}
	r.run.Expect(now.Add(retry.Delay))
	r.seen.asking = true
	if retry.Status != 401 && retry.Status != 403 {
		return
	}
	// A single rejection can occur while a login is being renewed.
	if r.seen.refusals++; r.seen.refusals >= 2 {
		r.run.End(r.evidence().refusedByAPI(retry.Status), now)
	}
}

// rateLimit reads the end of a limit from an event that clients with a subscription print.
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

// hurry sends the next signal immediately if the client begins a tool call after the
// interrupt. Such a client has missed the interrupt, which sometimes happens in Claude
// Code 2.1.197 around its first request.
func (r *follower) hurry(ev *streamjson.Event, now time.Time) {
	if !r.run.Ending() {
		return
	}
	if slices.ContainsFunc(ev.Blocks, func(b streamjson.Block) bool { return b.Kind == streamjson.BlockToolUse }) {
		r.run.Hurry(now)
	}
}

// Tick sends the prompt and further messages to the client, and terminates the client if
// it does not read them.
func (r *follower) Tick(now time.Time) {
	r.prove(now)
	r.steer()
	r.drop(now)
	silent := r.run.Silent(now)
	switch u := r.steering.until; {
	case r.run.Ending():
	case !u.IsZero() && r.seen.tasks.behind() == 0 && !r.steering.open(len(r.run.Account.Results()), now, r.timing.Steer):
		r.run.CloseInput(now) // the client no longer reads messages that arrived too late
	case !r.followed && !r.seen.replay.IsZero() && !r.seen.after && !r.seen.init && silent >= r.timing.PromptNotRun:
		r.run.End(promptNotRun(), now)
	case r.warm && !r.followed && r.seen.replay.IsZero() && !r.seen.taken && !r.seen.init && silent >= r.timing.PromptNotRun && r.run.Idle(now):
		r.run.Kill(follow.Gone("is silent"), now) // the client has no work to finish
	}
}

// Due returns when to check the proof, or a message that arrived too late or is to be
// dropped.
func (r *follower) Due() time.Time {
	due := r.proofDue()
	if u := r.steering.until; !u.IsZero() && !r.run.Closing() && r.seen.tasks.behind() == 0 && (due.IsZero() || u.Before(due)) {
		due = u
	}
	if at := r.steering.dropAt(); !at.IsZero() && (due.IsZero() || at.Before(due)) {
		due = at
	}
	return due
}

// Working returns false while the prompt is held back, because the turn has not begun
// yet.
func (r *follower) Working() bool { return !r.proof.holds() }

// Cancel returns false, so that the client gets SIGINT. In 2.1.197 and 2.1.332, SIGINT ends
// the turn with its tool calls and background shells. The clients also have a control
// request that interrupts, but only a process that owns their input can send it, and
// between two turns no result follows it. After SIGINT in the middle of a request, a client
// may print no result, so the cost of such a turn is unknown.
func (r *follower) Cancel() bool { return false }

// lastWords returns the model's last text, for a turn without a result.
func (r *follower) lastWords() string { return strings.TrimSpace(r.seen.words) }

// withAnswer normally returns ev itself. If ev is a result from which the client omitted
// the model's answer because of the cap, it returns a copy that contains the model's last
// text.
func (r *follower) withAnswer(ev *streamjson.Event) *streamjson.Event {
	if ev.Kind != streamjson.KindResult || ev.Result == nil || ev.Result.Text != "" || !answered(ev.Result) {
		return ev
	}
	ev = ev.Clone()
	ev.Result.Text = r.seen.words
	return ev
}
