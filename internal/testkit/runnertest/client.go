package runnertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A client plays one turn.
type client struct {
	ctx      context.Context // the context of Run
	cancel   context.CancelFunc
	turn     runner.Turn
	account  runner.Account
	began    time.Time
	file     *os.File // nil if the turn has no file
	session  string
	model    string
	context  int
	limit    int
	cost     float64 // cost of the turn so far, in US dollars
	price    float64 // cost of each request to the model, in US dollars
	cap      float64 // cap of the turn; 0 means none
	words    string  // the last text block from the model
	answered bool    // the last request produced an answer, not a tool call
	asked    bool    // a request has been made since the cost was last compared with the cap
	billing  runner.Billing
	calls    int
	said     string
	denied   []streamjson.Denial
	decided  []runner.Decision
	asks     bool // the client asks before it uses a tool
	lines    int
	taken    bool            // the prompt has been echoed
	brought  []string        // UUIDs of the messages from Steering
	repeated map[string]bool // UUIDs of the received prompts
}

func newClient(ctx context.Context, kind *runner.Kind, t runner.Turn, mode int) (*client, error) {
	c := &client{ctx: ctx, turn: t, cancel: func() {}, began: time.Now(), asks: kind.Asks, account: runner.NewAccount(kind, t.From), model: "scripted-1", context: 12000, limit: 200000}
	if t.Spec.Model != "" {
		c.model = t.Spec.Model
	}
	if kind.Caps {
		c.cap = t.CapUSD
	}
	if t.Spec.Timeout > 0 {
		// The cause distinguishes a timeout from a stop; see wait.
		c.ctx, c.cancel = context.WithTimeoutCause(ctx, t.Spec.Timeout, errTimedOut)
	}
	if t.Stdout == "" {
		return c, nil
	}
	f, err := os.OpenFile(t.Stdout, os.O_CREATE|os.O_RDWR|mode, 0o600)
	c.file = f
	return c, err
}

func (c *client) close() {
	c.cancel()
	if c.file != nil {
		c.file.Close()
	}
}

var errTimedOut = errors.New("timed out")

// play runs the steps. A step that ends the turn returns its outcome. After each step, play
// compares the cost with the cap, as a client does after each request. If the cap is
// reached in the last step and that step is the answer, the answer is kept.
func (c *client) play(steps []Step) runner.Outcome {
	for i, step := range steps {
		if out := step(c); out != nil {
			return *out
		}
		if c.spentUp() {
			return c.capped(i == len(steps)-1 && c.answered)
		}
		if out := c.wait(0); out != nil {
			return *out
		}
	}
	return c.done()
}

// wait waits for d. If the turn ends in the meantime, wait returns its outcome.
func (c *client) wait(d time.Duration) *runner.Outcome {
	stall := time.Duration(-1)
	if c.turn.Spec.Stall > 0 && d >= c.turn.Spec.Stall && c.account.OpenCalls() == 0 {
		stall, d = c.turn.Spec.Stall, c.turn.Spec.Stall
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
	if c.ctx.Err() != nil {
		if errors.Is(context.Cause(c.ctx), errTimedOut) {
			return c.outcome(runner.TimedOut, "the turn took longer than "+c.turn.Spec.Timeout.String())
		}
		return c.outcome(runner.Stopped, "the turn was stopped")
	}
	if stall > 0 {
		return c.outcome(runner.Stalled, "no sign of life for "+stall.String())
	}
	return nil
}

// emit writes one event to the file and to the turn.
func (c *client) emit(ev streamjson.Event) {
	ev.Session = c.session
	line, err := json.Marshal(&ev)
	if err != nil {
		panic(fmt.Sprintf("runnertest: event cannot be written: %v", err))
	}
	ev.Raw = line
	if c.file != nil {
		if _, err := c.file.Write(append(line, '\n')); err != nil {
			panic(fmt.Sprintf("runnertest: %v", err)) // the test's folder has been removed
		}
	}
	c.observe(&ev)
}

func (c *client) observe(ev *streamjson.Event) {
	c.lines++
	if ev.Kind == streamjson.KindReplay {
		if c.repeated == nil {
			c.repeated = make(map[string]bool)
		}
		c.repeated[ev.UUID] = true
	}
	c.taken = c.taken || ev.Kind == streamjson.KindReplay && ev.UUID == c.turn.UUID
	for _, b := range ev.Blocks {
		if ev.Kind == streamjson.KindAssistant && b.Kind == streamjson.BlockText {
			c.words = b.Text
		}
	}
	c.account.Observe(ev)
	if c.turn.Event != nil {
		c.turn.Event(ev)
	}
}

// replay reads the turn's file from the beginning of the turn.
func (c *client) replay() error {
	if c.file == nil {
		return nil
	}
	r := bufio.NewReader(io.NewSectionReader(c.file, c.turn.From.Offset, 1<<40))
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 && err == nil {
			var ev streamjson.Event
			if jerr := json.Unmarshal(line, &ev); jerr != nil {
				ev = streamjson.Event{Kind: streamjson.KindBad}
			}
			ev.Raw = line[:len(line)-1]
			if ev.Session != "" {
				c.session = ev.Session
			}
			c.observe(&ev)
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// birth emits the first events of a turn, unless they have already been emitted.
func (c *client) birth() {
	if c.lines > 0 {
		return
	}
	c.emit(streamjson.Event{Kind: streamjson.KindInit, Init: &streamjson.Init{Version: Version, Cwd: c.turn.Spec.Dir, Model: c.model, PermissionMode: c.turn.Spec.PermissionMode}})
	c.emit(streamjson.Event{Kind: streamjson.KindReplay, UUID: c.turn.UUID, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: c.turn.Prompt}}})
}

// assistant emits one block of the model's reply and counts it as one request.
func (c *client) assistant(b streamjson.Block) {
	c.birth()
	c.cost, c.answered, c.asked = c.cost+c.price, b.Kind == streamjson.BlockText, true
	c.emit(streamjson.Event{Kind: streamjson.KindAssistant, Model: c.model, Blocks: []streamjson.Block{b},
		Usage: &streamjson.Usage{Input: 10, Output: 1, CacheRead: max(c.context-10, 0)}})
}

// done ends the turn successfully.
func (c *client) done() runner.Outcome {
	if c.said == "" {
		_ = Say("Done: " + firstLine(c.turn.Prompt))(c)
		if c.spentUp() {
			return c.capped(true)
		}
	}
	c.result(false, c.said)
	return c.concluded()
}

// spentUp reports, once after each request, whether the turn has used up its cap.
func (c *client) spentUp() bool {
	asked := c.asked
	c.asked = false
	return asked && c.cap > 0 && c.cost >= c.cap
}

// These mark the result of a turn that has used up its cap: spentCap is always set, and
// finished only if the answer was complete.
const (
	spentCap = "budget_exhausted"
	finished = "end_turn"
)

// capped ends a turn that has used up its cap. The turn's result has no text, even if the
// model has answered.
func (c *client) capped(answered bool) runner.Outcome {
	r := &streamjson.Result{Subtype: "error_max_budget_usd", IsError: true, TerminalReason: spentCap, StopReason: "tool_use"}
	if answered {
		r.StopReason = finished
	}
	c.ends(r)
	return c.concluded()
}

// result emits the result of the turn.
func (c *client) result(isError bool, text string) {
	c.ends(&streamjson.Result{Subtype: "success", IsError: isError, Text: text, TerminalReason: "completed"})
}

// ends adds the turn's numbers to r and emits r as the result of the turn.
func (c *client) ends(r *streamjson.Result) {
	c.birth()
	r.Turns, r.Duration, r.CostUSD, r.ContextLimit, r.Denials = 1+c.calls, time.Since(c.began), c.cost, c.limit, c.denied
	c.emit(streamjson.Event{Kind: streamjson.KindResult, Result: r, Usage: &streamjson.Usage{Input: 10, Output: len(r.Text) / 4, CacheRead: max(c.context-10, 0)}})
}

// concluded returns the outcome from the last result.
func (c *client) concluded() runner.Outcome {
	results := c.account.Results()
	r := results[len(results)-1]
	kept := r.TerminalReason == spentCap && r.StopReason == finished
	switch {
	case r.TerminalReason == spentCap && !kept:
		return *c.outcome(runner.CapReached, fmt.Sprintf("the turn has spent its cap of $%.2f", c.cap))
	case r.IsError && !kept:
		return *c.outcome(runner.Failed, r.Text)
	}
	out := c.outcome(runner.Done, "")
	if kept {
		out.Text = c.words
	}
	for _, uuid := range append(c.brought, c.turn.Steered...) {
		if c.repeated[uuid] {
			out.Steered = append(out.Steered, uuid)
		}
	}
	return *out
}

// fail ends the turn without a result.
func (c *client) fail(end runner.End, reason string) runner.Outcome { return *c.outcome(end, reason) }

// crash ends the turn as if the client had crashed.
func (c *client) crash(end runner.End, reason string) *runner.Outcome {
	out := c.outcome(end, reason)
	out.Crashed = true
	return out
}

func (c *client) outcome(end runner.End, reason string) *runner.Outcome {
	out := &runner.Outcome{End: end, Reason: strings.ReplaceAll(reason, "\n", " "), Began: c.began, Ended: time.Now()}
	c.account.Fill(out)
	out.Decisions, out.Billing = c.decided, c.billing
	if end != runner.Done {
		out.Hint = "this is a scripted backend; look at the script"
		out.ExitCode = 1
	}
	return out
}
