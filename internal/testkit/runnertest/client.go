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
	file     *os.File // nil if the turn has none
	session  string
	model    string
	context  int
	limit    int
	cost     float64
	calls    int
	said     string
	denied   []streamjson.Denial
	decided  []runner.Decision
	asks     bool // before it uses a tool
	lines    int
	taken    bool            // the prompt was repeated
	brought  []string        // UUIDs of what came by Steering, now or for an earlier daemon
	repeated map[string]bool // UUIDs of the received prompts
}

func newClient(ctx context.Context, kind *runner.Kind, t runner.Turn, mode int) (*client, error) {
	c := &client{ctx: ctx, turn: t, cancel: func() {}, began: time.Now(), asks: kind.Asks, account: runner.NewAccount(kind, t.From), model: "scripted-1", context: 12000, limit: 200000}
	if t.Spec.Model != "" {
		c.model = t.Spec.Model
	}
	if t.Spec.Timeout > 0 {
		// The cause tells a time-out from a stop; see wait.
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

// play runs the steps. A step that ends the turn returns its outcome.
func (c *client) play(steps []Step) runner.Outcome {
	for _, step := range steps {
		if out := step(c); out != nil {
			return *out
		}
		if out := c.wait(0); out != nil {
			return *out
		}
	}
	return c.done()
}

// wait waits for d, or returns the outcome of a turn that ends meanwhile.
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
			panic(fmt.Sprintf("runnertest: %v", err)) // the test's folder is gone
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
	c.account.Observe(ev)
	if c.turn.Event != nil {
		c.turn.Event(ev)
	}
}

// replay reads the turn's file from where the turn begins.
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

// birth emits the first events of a client once.
func (c *client) birth() {
	if c.lines > 0 {
		return
	}
	c.emit(streamjson.Event{Kind: streamjson.KindInit, Init: &streamjson.Init{Version: Version, Cwd: c.turn.Spec.Dir, Model: c.model, PermissionMode: c.turn.Spec.PermissionMode}})
	c.emit(streamjson.Event{Kind: streamjson.KindReplay, UUID: c.turn.UUID, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: c.turn.Prompt}}})
}

// assistant emits one block of the model's reply.
func (c *client) assistant(b streamjson.Block) {
	c.birth()
	c.emit(streamjson.Event{Kind: streamjson.KindAssistant, Model: c.model, Blocks: []streamjson.Block{b},
		Usage: &streamjson.Usage{Input: 10, Output: 1, CacheRead: max(c.context-10, 0)}})
}

// done ends the turn well.
func (c *client) done() runner.Outcome {
	if c.said == "" {
		_ = Say("Done: " + firstLine(c.turn.Prompt))(c)
	}
	c.result(false, c.said)
	return c.concluded()
}

// result emits the result of the turn.
func (c *client) result(isError bool, text string) {
	c.birth()
	r := &streamjson.Result{Subtype: "success", IsError: isError, Text: text, Turns: 1 + c.calls,
		Duration: time.Since(c.began), CostUSD: c.cost, ContextLimit: c.limit, Denials: c.denied, TerminalReason: "completed"}
	c.emit(streamjson.Event{Kind: streamjson.KindResult, Result: r, Usage: &streamjson.Usage{Input: 10, Output: len(text) / 4, CacheRead: max(c.context-10, 0)}})
}

// concluded returns the outcome from the last result.
func (c *client) concluded() runner.Outcome {
	results := c.account.Results()
	if r := results[len(results)-1]; r.IsError {
		return *c.outcome(runner.Failed, r.Text)
	}
	out := c.outcome(runner.Done, "")
	for _, uuid := range append(c.brought, c.turn.Steered...) {
		if c.repeated[uuid] {
			out.Steered = append(out.Steered, uuid)
		}
	}
	return *out
}

// fail ends the turn without a result.
func (c *client) fail(end runner.End, reason string) runner.Outcome { return *c.outcome(end, reason) }

func (c *client) outcome(end runner.End, reason string) *runner.Outcome {
	out := &runner.Outcome{End: end, Reason: strings.ReplaceAll(reason, "\n", " "), Began: c.began, Ended: time.Now()}
	c.account.Fill(out)
	out.Decisions = c.decided
	if end != runner.Done {
		out.Hint = "this is a scripted backend; look at the script"
		out.ExitCode = 1
	}
	return out
}
