package acp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// These are the ids of our requests before the prompt.
const (
	idStart   = "initialize"
	idOpen    = "session"
	idSetMode = "mode"
	idModel   = "model"
)

// A session contains what a client has reported before its first prompt. It remains valid
// for later turns of the client.
type session struct {
	hello    initialized
	id       string
	model    string
	mode     string
	modes    []string  // the modes that the client offers, under their names in the configuration
	made     time.Time // when the session was opened
	prompted bool      // the client has received a prompt
}

// A handshake is the dialogue before the first prompt: our requests and the client's
// answers. It does not send the requests itself.
type handshake struct {
	client  *Client
	program program
	turn    *runner.Turn
	rest    map[string]any                 // the agent's options that are passed to the client
	born    func(session string) time.Time // returns the latest time at which a session may have been created
	session *session                       // what the client has reported so far

	resumed bool // an earlier process created the session
	loading bool // session/load opens the session, because the client cannot resume it
	retried bool // the client does not support session/resume, so we try session/load
	waiting int  // number of unanswered requests for mode and model
}

// start returns the first request to a newly started client.
func (h *handshake) start() []byte {
	us := protocol.Implementation{Name: "claude-swarm", Version: "1"}
	if h.client.Protocol == second {
		return request(idStart, protocol.AgentMethodInitialize, initialize2{Version: second, Info: us})
	}
	return request(idStart, protocol.AgentMethodInitialize, protocol.InitializeRequest{ProtocolVersion: first, ClientInfo: &us})
}

// initialized handles the answer to initialize. Here and below, a verdict whose End is set
// means that the turn cannot begin.
func (h *handshake) initialized(m *message) follow.Verdict {
	if m.Error != nil {
		return h.program.classify(m.Error, false)
	}
	lenient(m.Result, &h.session.hello)
	switch v := h.session.hello.Version; {
	case v == 0:
		return h.program.refused("it does not state the version of the protocol that it speaks")
	case v != first && (v != second || h.client.Protocol != second):
		return h.program.refused(fmt.Sprintf("it speaks version %d of the protocol, and we speak %d", v, first))
	}
	return follow.Verdict{}
}

// open returns the request that opens the turn's session, or nil while the session is
// so new that loading would destroy it.
func (h *handshake) open(now time.Time) ([]byte, follow.Verdict) {
	servers := []protocol.McpServer{}
	if h.client.Servers == inSession {
		servers = sessionServers(serversOf(*h.turn))
	}
	dir, id := h.turn.Spec.Dir, h.turn.Session.ID
	load := protocol.LoadSessionRequest{Cwd: dir, McpServers: servers, SessionId: protocol.SessionId(id), Meta: h.rest}
	hello, fresh := &h.session.hello, h.turn.Session.How != runner.Resume
	switch {
	case hello.Version == second:
		h.resumed = !fresh
		return openSecond(h.client, h.turn, h.rest), follow.Verdict{}
	case fresh:
		return request(idOpen, protocol.AgentMethodSessionNew, protocol.NewSessionRequest{Cwd: dir, McpServers: servers, Meta: h.rest}), follow.Verdict{}
	case hello.resumes() && !h.retried:
		h.resumed = true
		// The library's parameters for resume omit an empty list, so we send the parameters
		// for load.
		return request(idOpen, protocol.AgentMethodSessionResume, load), follow.Verdict{}
	case hello.Can.Load && h.client.FreshLoads && h.born(id).Truncate(time.Minute).Equal(now.Truncate(time.Minute)):
		return nil, follow.Verdict{}
	case hello.Can.Load:
		h.resumed, h.loading = true, true
		return request(idOpen, protocol.AgentMethodSessionLoad, load), follow.Verdict{}
	}
	return nil, follow.Verdict{End: runner.NoSession, Reason: h.client.Kind.Title + " cannot resume a session"}
}

// triesLoad reports whether open should load a session that could not be resumed.
func (h *handshake) triesLoad(f *fault) bool {
	if h.turn.Session.How != runner.Resume || f.Code != codeNoMethod || h.loading || !h.session.hello.Can.Load || h.session.hello.Version == second {
		return false
	}
	h.retried = true
	return true
}

// notOpened returns the verdict on a client that refuses to open the session.
func (h *handshake) notOpened(f *fault) follow.Verdict {
	switch {
	case f.Code == codeAuthRequired:
		return h.program.notSignedIn(f)
	case h.turn.Session.How == runner.Resume:
		return follow.Verdict{End: runner.NoSession, Reason: f.text()}
	}
	return h.program.classify(f, false)
}

// opened handles the session that the client has opened, and returns the requests that
// set its mode and model.
func (h *handshake) opened(result json.RawMessage, now time.Time) (requests [][]byte, v follow.Verdict) {
	var o opened
	lenient(result, &o)
	s := h.session
	s.id = cmp.Or(o.Session, h.turn.Session.ID)
	if s.id == "" {
		return nil, h.program.refused("it opened a session without naming it")
	}
	s.made = now
	_, model := o.setting("model")
	s.model, s.modes = cmp.Or(model, o.Models.Current), o.modes()
	for _, line := range [][]byte{h.setMode(&o), h.setModel(&o)} {
		if line != nil {
			h.waiting++
			requests = append(requests, line)
		}
	}
	return requests, follow.Verdict{}
}

// setMode returns the request that sets the agent's permission mode, or nil if the agent
// specifies no mode or the session already has it.
func (h *handshake) setMode(o *opened) (line []byte) {
	want := h.turn.Spec.PermissionMode
	setting, now := o.setting("mode")
	h.session.mode = cmp.Or(o.Modes.Current, now)
	if want == "" {
		return nil
	}
	want = o.fullMode(want)
	switch {
	case want == h.session.mode:
		return nil
	case len(o.Modes.All) > 0 || setting == "":
		line = request(idSetMode, protocol.AgentMethodSessionSetMode, protocol.SetSessionModeRequest{
			SessionId: protocol.SessionId(h.session.id), ModeId: protocol.SessionModeId(want),
		})
	default:
		line = h.setOption(idSetMode, setting, want)
	}
	h.session.mode = want
	return line
}

// setModel returns the request that sets the agent's model, or nil if the agent specifies
// no model, the session already has it, or the client was started with it.
func (h *handshake) setModel(o *opened) (line []byte) {
	want := h.turn.Spec.Model
	if want == "" || want == h.session.model || len(h.client.ModelArgs) > 0 || h.client.ModelVar != "" {
		return nil
	}
	if setting, _ := o.setting("model"); setting != "" {
		line = h.setOption(idModel, setting, want)
	} else {
		line = request(idModel, protocol.AgentMethodSessionSetModel, protocol.UnstableSetSessionModelRequest{
			SessionId: protocol.SessionId(h.session.id), ModelId: protocol.UnstableModelId(want),
		})
	}
	h.session.model = want
	return line
}

// setOption returns the request that sets an option of the client.
func (h *handshake) setOption(id, setting, value string) []byte {
	params := setOption{Session: h.session.id, Setting: setting, Value: value}
	if h.session.hello.Version == second {
		params.Type = "id"
	}
	return request(id, protocol.AgentMethodSessionSetConfigOption, params)
}

// settingAnswered handles the answer to a request that sets the mode or the model.
func (h *handshake) settingAnswered(id string, f *fault) follow.Verdict {
	h.waiting--
	switch {
	case f == nil:
		return follow.Verdict{}
	case id == idModel:
		return h.program.unknownSetting("model", h.turn.Spec.Model, f)
	}
	return h.program.unknownSetting("permission_mode", h.turn.Spec.PermissionMode, f)
}
