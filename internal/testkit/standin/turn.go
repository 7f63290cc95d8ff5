package standin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// errInterrupted ends an interrupted turn.
var errInterrupted = errors.New("interrupted")

// A failure ends a turn with is_error. status is the API's status, or 0.
type failure struct {
	text   string
	status int
	kind   string // error field of the assistant line: rate_limit, server_error …
	limit  string // subtype of the result, if a client limit was reached
	stop   string // stop_reason of that result; "" is printed as null

	// These fields are printed only in the newer version.
	sort, code string // api_error_type, api_error
	rate       *rateLimit
}

func (f *failure) Error() string { return f.text }

// A turn is one prompt and everything that follows from it. It is used only by the
// goroutine that runs [client.serve].
type turn struct {
	c       *client
	began   time.Time
	prompt  prompt
	first   string   // first line of the body
	steps   []Step   // the remaining steps
	said    string   // the last text block
	more    []string // text for each later turn that starts without a prompt
	steered []prompt // prompts that arrived while a tool was running
	command string   // the slash command in the prompt, without the slash
	inTool  bool     // the last block was a tool call, which the note about an interrupt mentions
	denials []denial

	// These fields describe the current request; message is "" between requests.
	message, request string
	filled           tokens // usage of the request, printed in all its lines
	counted          bool   // counted by the API, so no estimate is needed
	blocks           int    // number of blocks so far, for the partial events
	used             tokens
	requests         int

	spent float64  // cost of the requests, in US dollars
	cost  *float64 // cost that @cost sets instead
}

// turn runs the waiting prompts. Prompts that the session already contains are only
// acknowledged, and the others together become one turn.
func (c *client) turn(ctx context.Context, waiting []prompt) {
	var fresh []prompt
	for _, p := range waiting {
		if c.sess.known[p.uuid] {
			c.replay(p, "")
			if !c.own[p.uuid] {
				c.lifecycle("completed", p)
			}
		} else {
			fresh = append(fresh, p)
			c.own[p.uuid] = true
		}
	}
	if len(fresh) == 0 {
		return
	}
	c.endIfAsked(fresh)
	ctx, done := c.begin(ctx, fresh[len(fresh)-1])
	defer done()

	t := &turn{c: c, began: time.Now(), prompt: merge(fresh)}
	t.first = FirstLine(t.prompt.text)
	for _, p := range fresh {
		c.journal("begin", p)
	}
	err := t.run(ctx, fresh)
	if err == nil && !pause(ctx, c.delay) {
		err = errInterrupted
	}
	result := t.finish(err)
	for _, p := range fresh {
		c.journal("end", p)
	}
	c.lifecycle("completed", t.steered...)
	c.out.line(result)
	if errors.Is(err, errInterrupted) {
		c.lifecycle("cancelled", fresh...)
	} else {
		c.lifecycle("completed", fresh...)
	}
	for _, text := range t.more {
		c.goOn(text)
	}
}

// begin creates the context that an interrupt cancels.
func (c *client) begin(ctx context.Context, last prompt) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	c.cancel = cancel
	c.mu.Unlock()
	if c.inbox.isCut(last) {
		cancel()
	}
	return ctx, func() {
		c.mu.Lock()
		c.cancel = nil
		c.mu.Unlock()
		cancel()
	}
}

// merge combines several prompts into one, as the real program does with prompts that
// arrive while it is busy. The result has the last uuid.
func merge(prompts []prompt) prompt {
	last := prompts[len(prompts)-1]
	if len(prompts) == 1 {
		return last
	}
	var texts []string
	for _, p := range prompts {
		texts = append(texts, p.text)
	}
	last.text = strings.Join(texts, "\n")
	last.content = encode(last.text)
	return last
}

// run prints the lines before the answer and plays the script.
func (t *turn) run(ctx context.Context, prompts []prompt) error {
	c := t.c
	c.sess.mark = len(c.sess.history)
	if !c.started {
		c.started = true
		source := "startup"
		if c.o.resuming || c.o.cont {
			source = "resume"
		}
		c.runHooks(ctx, source)
	}
	if command, ok := slashCommand(t.prompt.text); ok && (c.release.old() || command == "/compact" || command == "/clear") {
		c.lifecycle("started", prompts...)
		return t.slash(ctx, command)
	}
	for _, p := range prompts[:len(prompts)-1] {
		c.replay(p, "")
	}
	c.lifecycle("started", prompts...)
	c.printInit()
	c.replay(t.prompt, t.prompt.at)
	if c.full() {
		if err := c.compact(ctx, "auto"); err != nil {
			return err
		}
	}
	for i, p := range prompts {
		rec := record{Type: "message", UUID: p.uuid, Message: &message{Role: "user", Content: p.content}, Model: c.model}
		if i > 0 {
			rec.Model = ""
		}
		if err := c.sess.add(rec); err != nil {
			return &failure{text: "the session cannot be written: " + err.Error()}
		}
	}
	if err := c.keepSystem(); err != nil {
		return &failure{text: "the session cannot be written: " + err.Error()}
	}
	c.cap.checked = 0
	if err := t.refuseOverCap(); err != nil {
		return err
	}
	steps, err := Script(t.prompt.text)
	if err != nil {
		t.misspelled(err)
	}
	if t.steps = steps; len(steps) > 0 {
		return t.play(ctx)
	}
	if base := c.getenv("ANTHROPIC_BASE_URL"); base != "" {
		return t.converse(ctx, base)
	}
	return t.say("Done: " + t.first)
}

// misspelled ends the process, because an invalid script is a mistake in the test and must
// not look like a turn.
func (t *turn) misspelled(err error) {
	t.c.complain("standin: " + err.Error())
	t.c.end(2)
	t.c.stay()
}

// say prints a text block from the assistant.
func (t *turn) say(text string) error {
	t.said = text
	return t.emit(block{Type: "text", Text: text})
}

// emit prints a block from the assistant as a separate line.
func (t *turn) emit(b block) error {
	c := t.c
	if t.message == "" {
		t.startRequest()
	}
	t.inTool = b.Type == "tool_use"
	if c.o.partial {
		c.printPartial(b, t.blocks)
	}
	c.out.line(&assistantLine{
		Type: "assistant", SessionID: c.sess.id, UUID: newUUID(), RequestID: t.request, Timestamp: c.stamp(),
		Message: &assistantMessage{
			Content: []block{b}, ID: t.message, Model: baseModel(c.model), Role: "assistant", Type: "message",
			Usage: t.filled,
		},
	})
	if c.o.partial {
		c.printEvent(map[string]any{"type": "content_block_stop", "index": t.blocks})
	}
	t.blocks++
	if !t.counted {
		size := len(b.Text) + len(b.Thinking) + len(b.Input)
		t.account(tokens{Output: max(1, size/4)})
		c.sess.context += size / 4
	}
	return c.sess.add(record{Type: "message", Message: &message{Role: "assistant", Content: encode([]block{b})}})
}

// startRequest begins a new assistant message. As in the real program, all its lines show
// the number of output tokens at its start.
func (t *turn) startRequest() {
	t.message, t.request, t.blocks = newID("msg_"), newID("req_"), 0
	t.requests++
	t.filled = tokens{Input: 10, Output: 1, CacheRead: max(0, t.c.sess.context-10)}
	in := t.filled
	in.Output = 0
	t.account(in)
	if t.c.o.partial {
		t.c.printStart(t.message, t.filled)
	}
}

// endRequest ends the message; the next block begins another one.
func (t *turn) endRequest(stop string) {
	if t.message != "" && t.c.o.partial {
		t.c.printStop(stop, t.filled)
	}
	t.message = ""
}

// account adds the usage of a request.
func (t *turn) account(u tokens) {
	t.used.Input += u.Input
	t.used.Output += u.Output
	t.used.CacheCreation += u.CacheCreation
	t.used.CacheRead += u.CacheRead
	usd := price(t.c.model, u)
	t.spent += usd
	t.c.tellTotal(t.c.cost + t.spent)
	t.c.spend(t.c.model, u, usd)
}

// finish prints the lines about an error and returns the result.
func (t *turn) finish(err error) *resultLine {
	c := t.c
	r := &resultLine{
		Type: "result", Subtype: "success", SessionID: c.sess.id, UUID: newUUID(), Turns: max(1, t.requests),
		Denials: append([]denial{}, t.denials...), Terminal: "completed", FastMode: "off", StopReason: new("end_turn"),
	}
	var failed *failure
	switch {
	case err == nil:
		t.endRequest("end_turn")
		r.APIStatus, r.Result = new(apiStatus), &t.said
		ms := time.Since(t.began).Milliseconds()
		r.FirstMS, r.StreamMS, r.RequestMS = &ms, &ms, &ms
	case errors.Is(err, errCommand):
		r.Turns, r.StopReason, r.Terminal, r.Result = 0, nil, "", &t.said
	case errors.As(err, &failed) && failed.limit != "":
		r.Subtype, r.IsError, r.StopReason, r.Terminal = failed.limit, true, nil, "max_turns"
		if failed.stop != "" {
			r.StopReason = &failed.stop
		}
		if failed.limit == capReached {
			r.Terminal = c.ifNew("budget_exhausted")
		}
		r.Errors = []string{failed.text}
	case errors.As(err, &failed):
		c.synthetic(failed.text, failed)
		r.IsError, r.APIStatus, r.Result = true, new(apiStatus(failed.status)), &failed.text
		r.StopReason = new("stop_sequence")
		if !c.release.old() && failed.kind != "" {
			r.Terminal = "api_error"
		}
	default:
		t.interrupted(r)
	}
	if t.cost != nil {
		c.spend(c.model, tokens{}, *t.cost-t.spent)
		t.spent = *t.cost
	}
	c.cost += t.spent
	c.bad = r.IsError
	r.CostUSD, r.Models = c.cost, c.models
	if r.resultMore = c.more(); r.resultMore != nil {
		r.Command, r.ContentMS = t.command, r.FirstMS
		if failed != nil {
			r.APIType, r.APICode = failed.sort, failed.code
		}
	}
	r.Usage = resultUsage{
		Input: t.used.Input, Output: t.used.Output, CacheCreation: t.used.CacheCreation, CacheRead: t.used.CacheRead,
		Tier: "standard", Iterations: []any{}, Speed: "standard", usageMore: c.usageMore(),
	}
	r.DurationMS = time.Since(t.began).Milliseconds()
	c.apiTime += time.Since(t.began)
	r.APIMS = c.apiTime.Milliseconds()
	state := record{Type: "state", Context: c.sess.context, Model: c.model, Totals: c.total(r.APIMS)}
	if err := c.sess.add(state); err != nil {
		c.complain("standin: the session cannot be written: " + err.Error())
	}
	return r
}

// interrupted prints the note about an interrupt and fills in the result.
func (t *turn) interrupted(r *resultLine) {
	note := "[Request interrupted by user]"
	r.Terminal, r.StopReason = "aborted_streaming", nil
	r.Turns = t.requests + 1
	if t.inTool {
		note = "[Request interrupted by user for tool use]"
		r.Terminal, r.StopReason = "aborted_tools", new("tool_use")
		r.Turns++
	}
	t.c.userBlocks([]block{{Type: "text", Text: note}}, nil, nil)
	stop := "null"
	if t.inTool {
		stop = "tool_use"
	}
	r.Subtype, r.IsError = "error_during_execution", true
	r.Errors = []string{"[ede_diagnostic] result_type=user last_content_type=n/a stop_reason=" + stop}
}

// steer adds to this turn the prompts that arrived while a tool was running.
func (t *turn) steer() {
	waiting, _ := t.c.inbox.drain()
	for _, p := range waiting {
		t.c.replay(p, p.at)
		if t.c.sess.known[p.uuid] {
			continue
		}
		t.c.lifecycle("started", p)
		t.c.own[p.uuid] = true
		t.steered = append(t.steered, p)
		t.c.journal("steer", p)
		steps, err := Script(p.text)
		if err != nil {
			t.misspelled(err)
		}
		t.steps = append(t.steps, steps...)
		// The real program does not store the uuid of such a message.
		content, _ := json.Marshal("The user sent a new message while you were working:\n" + p.text)
		if err := t.c.sess.add(record{Type: "message", Message: &message{Role: "user", Content: content}}); err != nil {
			t.c.complain("standin: the session cannot be written: " + err.Error())
		}
	}
}
