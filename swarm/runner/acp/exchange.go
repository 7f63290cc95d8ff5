package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// A step is what an exchange waits for.
type step int

const (
	starting  step = iota // the answer to initialize
	aging                 // the end of the minute in which the session was made
	opening               // the answer to session/new, session/resume or session/load
	setting               // the answers to mode and model
	replaying             // the end of a replay
	proving               // our tools' server
	working               // the answer to the prompt
	ended                 // the client's exit
)

// These are the ids of our requests. The id of a prompt is its UUID, by which a later
// daemon finds the answer in the client's output.
const (
	idStart   = "initialize"
	idOpen    = "session"
	idSetMode = "mode"
	idModel   = "model"
	idSteer   = "steer-"
)

// An exchange is the dialogue between a client and us in one turn. It belongs to the
// goroutine of the turn.
type exchange struct {
	run    *follow.Run
	turn   runner.Turn
	client Client
	rest   map[string]any // the options of the agent that are the client's
	timing runner.Timing

	step     step
	since    time.Time // when the step began
	followed bool      // Follow reads the client; we cannot write to it
	keep     bool      // the client stays for the next turn, if it can
	probing  bool      // the client gets no prompt: see Probe
	session  session
	stream   stream
	asks     asks
	bad      badLines
	reply    reply
	steered  steered
	silence  time.Duration                  // the longest silence in this turn; 0: no limit
	born     func(session string) time.Time // the latest time at which a session can have been made

	permitCtx context.Context // of the turn; see asks
}

// A session is what a client has said before its first prompt. It is valid for the later
// turns too.
type session struct {
	hello    initialized
	id       string
	model    string
	mode     string
	modes    []string // that it offers, as the configuration names them
	loading  bool     // by session/load, because it cannot resume
	retried  bool     // session/resume was refused as unknown, and session/load is tried
	waiting  int      // how many answers to mode and model are missing
	resumed  bool
	made     time.Time // when it was opened
	prompted bool      // some turn of the process had its prompt
}

// reply is the answer to the prompt.
type reply struct {
	came     bool
	accepted bool // by version 2: the client works on the prompt
	finished finished
	fault    *fault
	heard    bool           // the client has sent a line after the prompt
	verdict  follow.Verdict // of a start that went wrong; no End: the start went well
}

// promptID returns the id of the request with the prompt.
func (e *exchange) promptID() string { return "turn-" + cmp.Or(e.turn.UUID, e.turn.ID) }

func (e *exchange) enter(s step) { e.step, e.since = s, time.Now() }

// begin sends the first request to a client that was just started.
func (e *exchange) begin() {
	e.enter(starting)
	us := protocol.Implementation{Name: "claude-swarm", Version: "1"}
	if e.client.Protocol == second {
		e.run.Send(request(idStart, protocol.AgentMethodInitialize, initialize2{Version: second, Info: us}))
		return
	}
	e.run.Send(request(idStart, protocol.AgentMethodInitialize, protocol.InitializeRequest{ProtocolVersion: first, ClientInfo: &us}))
}

// opens asks for the session of the turn.
func (e *exchange) opens() {
	e.enter(opening)
	servers := []protocol.McpServer{}
	if e.client.Servers == inSession {
		servers = sessionServers(serversOf(e.turn))
	}
	dir, id := e.turn.Spec.Dir, protocol.SessionId(e.turn.Session.ID)
	switch {
	case e.session.hello.Version == second:
		e.opens2()
	case e.turn.Session.How != runner.Resume:
		e.run.Send(request(idOpen, protocol.AgentMethodSessionNew, protocol.NewSessionRequest{Cwd: dir, McpServers: servers, Meta: e.rest}))
	case e.session.hello.resumes() && !e.session.retried: // with the parameters of load: the library leaves an empty list out
		e.session.resumed = true
		e.run.Send(request(idOpen, protocol.AgentMethodSessionResume, protocol.LoadSessionRequest{Cwd: dir, McpServers: servers, SessionId: id, Meta: e.rest}))
	case e.session.hello.Can.Load && e.client.FreshLoads && e.born(e.turn.Session.ID).Truncate(time.Minute).Equal(time.Now().Truncate(time.Minute)):
		e.enter(aging)
	case e.session.hello.Can.Load:
		e.session.resumed, e.session.loading = true, true
		e.run.Send(request(idOpen, protocol.AgentMethodSessionLoad, protocol.LoadSessionRequest{Cwd: dir, McpServers: servers, SessionId: id, Meta: e.rest}))
	default:
		e.fail(follow.Verdict{End: runner.NoSession, Reason: e.client.Kind.Title + " cannot resume a session"})
	}
}

// opened takes the session that the client has opened.
func (e *exchange) opened(result json.RawMessage) {
	var o opened
	lenient(result, &o)
	e.session.id = cmp.Or(o.Session, e.turn.Session.ID)
	if e.session.id == "" {
		e.fail(refused(e, "it opened a session and did not name it"))
		return
	}
	if e.session.resumed {
		e.run.Account.Resumed()
	}
	e.stream.session, e.session.made = e.session.id, time.Now()
	_, model := o.setting("model")
	e.session.model, e.session.modes = cmp.Or(model, o.Models.Current), o.modes()
	e.enter(setting)
	e.setMode(&o)
	e.setModel(&o)
	e.set()
}

// setMode asks for the permission mode of the agent.
func (e *exchange) setMode(o *opened) {
	want := e.turn.Spec.PermissionMode
	setting, now := o.setting("mode")
	e.session.mode = cmp.Or(o.Modes.Current, now)
	if want == "" {
		return
	}
	want = o.fullMode(want)
	switch {
	case want == e.session.mode:
		return
	case len(o.Modes.All) > 0 || setting == "":
		e.ask(idSetMode, protocol.AgentMethodSessionSetMode, protocol.SetSessionModeRequest{SessionId: protocol.SessionId(e.session.id), ModeId: protocol.SessionModeId(want)})
	default:
		e.setOption(idSetMode, setting, want)
	}
	e.session.mode = want
}

// setModel asks for the model of the agent, unless the client was started with it.
func (e *exchange) setModel(o *opened) {
	want := e.turn.Spec.Model
	if want == "" || want == e.session.model || len(e.client.ModelArgs) > 0 || e.client.ModelVar != "" {
		return
	}
	if setting, _ := o.setting("model"); setting != "" {
		e.setOption(idModel, setting, want)
	} else {
		e.ask(idModel, protocol.AgentMethodSessionSetModel, protocol.UnstableSetSessionModelRequest{
			SessionId: protocol.SessionId(e.session.id), ModelId: protocol.UnstableModelId(want),
		})
	}
	e.session.model = want
}

// setOption asks for the value of a setting that the client has named.
func (e *exchange) setOption(id, setting, value string) {
	e.ask(id, protocol.AgentMethodSessionSetConfigOption, setOption{Session: e.session.id, Setting: setting, Type: e.optionType(), Value: value})
}

func (e *exchange) ask(id, method string, params any) {
	e.session.waiting++
	e.run.Send(request(id, method, params))
}

// set begins the next step once the client has its mode and model.
func (e *exchange) set() {
	if e.session.waiting > 0 {
		return
	}
	if e.session.loading && e.client.LateReplay && !e.followed {
		e.enter(replaying)
		return
	}
	e.proves()
}

// proves waits for our tools' server, and sends the prompt when it has started.
func (e *exchange) proves() {
	e.enter(proving)
	e.proved()
}

func (e *exchange) proved() {
	switch {
	case e.turn.Tools != nil && !e.client.LateTools && !e.followed && !e.hasTools():
	case e.probing:
		e.probed()
	default:
		e.prompt()
	}
}

// hasTools reports whether our tools' server has listed its tools for this client.
func (e *exchange) hasTools() bool {
	_, err := os.Stat(e.turn.Ready)
	return err == nil
}

// prompt sends the prompt. A new session gets the system text in front of it: the protocol
// has no other place for that.
func (e *exchange) prompt() {
	var blocks []protocol.ContentBlock
	if e.turn.Session.How != runner.Resume && !e.session.prompted && e.turn.Spec.System != "" {
		blocks = append(blocks, protocol.TextBlock(e.turn.Spec.System+"\n\n"))
	}
	e.session.prompted = true
	blocks = append(blocks, protocol.TextBlock(e.turn.Prompt))
	e.enter(working)
	e.run.Expect(time.Now()) // silence before the prompt does not count
	e.run.Send(request(e.promptID(), protocol.AgentMethodSessionPrompt, protocol.PromptRequest{
		SessionId: protocol.SessionId(e.session.id), Prompt: blocks,
	}))
}

// hear emits the first events of a turn at the first line after the prompt.
func (e *exchange) hear(raw []byte) {
	if e.reply.heard {
		return
	}
	e.reply.heard = true
	e.stream.event(streamjson.Event{Kind: streamjson.KindInit, Init: &streamjson.Init{
		Cwd: e.turn.Spec.Dir, Model: e.session.model, PermissionMode: e.session.mode, Version: e.session.hello.version(),
	}, Model: e.session.model}, raw)
	if e.turn.Prompt != "" { // a later daemon does not have it
		e.stream.event(streamjson.Event{Kind: streamjson.KindReplay, UUID: e.turn.UUID, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, Text: e.turn.Prompt}}}, raw)
	}
}

// fail ends a client that cannot begin the turn.
func (e *exchange) fail(v follow.Verdict) {
	if e.reply.verdict.End == "" {
		e.reply.verdict = v
	}
	if e.step == starting {
		e.run.Kill(v, time.Now()) // it has nothing to finish
	} else {
		e.run.CloseInput(time.Now())
	}
	e.enter(ended)
}
