package acp

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// A step is the event for which an exchange is waiting.
type step int

const (
	starting  step = iota // the answer to initialize
	aging                 // the end of the minute in which the session was created
	opening               // the answer to session/new, session/resume or session/load
	setting               // the answers to the requests that set the mode and the model
	replaying             // the end of a replay
	proving               // the file that our tool server creates when it has listed its tools
	working               // the answer to the prompt
	ended                 // the client's exit
)

// An exchange is our dialogue with a client during one turn. Only the turn's goroutine
// uses it.
type exchange struct {
	run     *follow.Run
	turn    runner.Turn
	client  *Client
	program program
	timing  runner.Timing

	step     step
	since    time.Time     // when the step began
	silence  time.Duration // how long the client may be silent in this turn; 0 means no limit
	followed bool          // an earlier daemon started the client; we cannot write to it
	keep     bool          // keep the client for the next turn if possible
	probing  bool          // the client gets no prompt; see [backend.Probe]

	session   *session
	handshake handshake
	stream    stream
	asks      asks
	steered   steered
	bad       badLines
	reply     reply
}

// promptID returns the id of the prompt request.
func (e *exchange) promptID() string { return "turn-" + cmp.Or(e.turn.UUID, e.turn.ID) }

func (e *exchange) enter(s step) { e.step, e.since = s, time.Now() }

// begin sends the first request to a newly started client.
func (e *exchange) begin() {
	e.enter(starting)
	e.run.Send(e.handshake.start())
}

// opens sends the request that opens the turn's session.
func (e *exchange) opens() {
	e.enter(opening)
	switch line, v := e.handshake.open(time.Now()); {
	case v.End != "":
		e.fail(v)
	case line == nil:
		e.enter(aging)
	default:
		e.run.Send(line)
	}
}

// opened handles the client's answer about its session.
func (e *exchange) opened(result json.RawMessage) {
	requests, v := e.handshake.opened(result, time.Now())
	if v.End != "" {
		e.fail(v)
		return
	}
	if e.handshake.resumed {
		e.run.Account.Resumed()
	}
	e.stream.session = e.session.id
	e.enter(setting)
	for _, line := range requests {
		e.run.Send(line)
	}
	e.set()
}

// set starts the next step if the mode and the model have been set.
func (e *exchange) set() {
	if e.handshake.waiting > 0 {
		return
	}
	if e.handshake.loading && e.client.LateReplay && !e.followed {
		e.enter(replaying)
		return
	}
	e.proves()
}

// proves starts the step that waits for our tool server to list its tools before sending
// the prompt.
func (e *exchange) proves() {
	e.enter(proving)
	e.proved()
}

func (e *exchange) proved() {
	switch {
	case e.turn.Tools != nil && !e.client.LateTools && !e.followed && !e.hasTools():
	case e.probing:
		e.fail(follow.Verdict{End: runner.Done}) // the client has shown that it can begin a turn
	default:
		e.prompt()
	}
}

// hasTools reports whether our tool server has listed its tools for this client.
func (e *exchange) hasTools() bool {
	_, err := os.Stat(e.turn.Ready)
	return err == nil
}

// promptBlocks returns the parts of the prompt. The protocol has no field for the system
// prompt, so the system prompt precedes the first prompt of a session and any prompt that
// restores what the session has lost.
func (e *exchange) promptBlocks() []protocol.ContentBlock {
	isFirst := e.turn.Session.How != runner.Resume && !e.session.prompted
	var blocks []protocol.ContentBlock
	if (isFirst || e.turn.Recalls) && e.turn.Spec.System != "" {
		blocks = append(blocks, protocol.TextBlock(e.turn.Spec.System+"\n\n"))
	}
	return append(blocks, protocol.TextBlock(e.turn.Prompt))
}

// prompt sends the prompt.
func (e *exchange) prompt() {
	blocks := e.promptBlocks()
	e.session.prompted = true
	e.enter(working)
	e.run.Expect(time.Now()) // silence before the prompt does not count
	e.run.Send(request(e.promptID(), protocol.AgentMethodSessionPrompt, protocol.PromptRequest{
		SessionId: protocol.SessionId(e.session.id), Prompt: blocks,
	}))
	e.turn.IsPrompted()
}

// spent reports what the turn has cost so far, given the session's total in US dollars.
func (e *exchange) spent(total float64) {
	if e.step != working || e.turn.Spent == nil {
		return
	}
	if usd, ok := e.run.Account.CostAt(total); ok && usd > 0 {
		e.turn.Spent(usd)
	}
}

// hear emits the initial events of a turn when the first line after the prompt arrives.
func (e *exchange) hear(raw []byte) {
	if e.reply.heard {
		return
	}
	e.reply.heard = true
	e.stream.event(streamjson.Event{Kind: streamjson.KindInit, Init: &streamjson.Init{
		Cwd: e.turn.Spec.Dir, Model: e.session.model, PermissionMode: e.session.mode, Version: e.session.hello.version(),
	}, Model: e.session.model}, raw)
	if e.turn.Prompt != "" { // a later daemon does not have the prompt
		e.stream.event(streamjson.Event{Kind: streamjson.KindReplay, UUID: e.turn.UUID, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: e.turn.Prompt}}}, raw)
	}
}

// fail ends a client that cannot begin the turn, or whose probe is over.
func (e *exchange) fail(v follow.Verdict) {
	if e.reply.verdict.End == "" {
		e.reply.verdict = v
	}
	if e.step == starting {
		e.run.Kill(v, time.Now()) // the client has no work to finish
	} else {
		e.run.CloseInput(time.Now())
	}
	e.enter(ended)
}

// judge returns the verdict on the turn so far.
func (e *exchange) judge() follow.Verdict {
	return judge(&facts{
		program: e.program, cause: e.run.Cause(), reply: e.reply, words: e.stream.words(), piece: e.stream.piece, trouble: e.stream.trouble,
		called: len(e.stream.order) > 0, denied: len(e.asks.denied) > 0,
		noTools:  e.turn.Tools != nil && e.client.LateTools && !e.followed && !e.hasTools(),
		followed: e.followed, warm: e.turn.From != runner.Place{}, starting: e.step == starting, bad: e.bad, stderr: e.run.Stderr(),
	})
}

// mayRest reports whether a client that has answered the prompt can accept another one. It
// returns false after anything unusual, because starting a new client is always safe.
func (e *exchange) mayRest() bool {
	return e.keep && e.judge().End == runner.Done && e.run.MayStay() && len(e.asks.open) == 0 && !e.steered.missing()
}

// rests reports whether the turn is over and its client keeps running.
func (e *exchange) rests() bool {
	return e.step == ended && e.reply.came && !e.run.Closing() && !e.run.Ending()
}

func (e *exchange) outcome(v follow.Verdict, broken error) runner.Outcome {
	if errors.Is(broken, io.EOF) {
		broken = nil
	}
	o := e.run.Outcome(v, broken)
	o.Decisions = e.asks.decisions
	if o.Text == "" {
		o.Text = e.stream.words()
	}
	if v.End.OK() {
		o.Steered = e.steered.taken
	}
	return o
}
