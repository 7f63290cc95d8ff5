package acp

import (
	"encoding/json"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// These are the versions of the protocol. The second is a draft of July 2026: the answer to
// a prompt only accepts it, and an update tells the end; modes and client files are gone;
// an update replaces the whole message or tool call with its id. This file has the
// differences for us.
const (
	first  = 1
	second = 2
)

// initialize2 are the parameters of initialize.
type initialize2 struct {
	Version int                     `json:"protocolVersion"`
	Info    protocol.Implementation `json:"info"`
	Can     struct{}                `json:"capabilities"`
}

// open2 are the parameters of session/new and session/resume.
type open2 struct {
	Session string         `json:"sessionId,omitempty"`
	Dir     string         `json:"cwd"`
	Servers []server2      `json:"mcpServers"`
	Meta    map[string]any `json:"_meta,omitempty"`
}

// server2 is an MCP server.
type server2 struct {
	Type    string                 `json:"type"`
	Name    string                 `json:"name"`
	Command string                 `json:"command,omitempty"`
	Args    []string               `json:"args,omitempty"`
	Env     []protocol.EnvVariable `json:"env,omitempty"`
	URL     string                 `json:"url,omitempty"`
	Headers []protocol.HttpHeader  `json:"headers,omitempty"`
}

// setOption are the parameters of session/set_config_option; the first version has no type.
type setOption struct {
	Session string `json:"sessionId"`
	Setting string `json:"configId"`
	Type    string `json:"type,omitempty"`
	Value   string `json:"value"`
}

func (e *exchange) optionType() string {
	if e.session.hello.Version == second {
		return "id"
	}
	return ""
}

// opens2 asks for the session of the turn. Every client of the version can resume.
func (e *exchange) opens2() {
	params := open2{Dir: e.turn.Spec.Dir, Servers: []server2{}, Meta: e.rest}
	if e.client.Servers == inSession {
		for name, s := range serversOf(e.turn) {
			kind := s.Type
			if kind == "" {
				kind = "stdio"
			}
			params.Servers = append(params.Servers, server2{Type: kind, Name: name, Command: s.Command, Args: s.Args, Env: variables(s.Env), URL: s.URL, Headers: headers(s.Headers)})
		}
	}
	method := protocol.AgentMethodSessionNew
	if e.turn.Session.How == runner.Resume {
		method, params.Session, e.session.resumed = protocol.AgentMethodSessionResume, e.turn.Session.ID, true
	}
	e.run.Send(request(idOpen, method, params))
}

// state2 handles a change of the client's state. The client is idle before it has accepted
// the prompt, too.
func (e *exchange) state2(u *update, raw []byte) {
	if u.State != "idle" || u.StopReason == "" || !e.reply.accepted {
		e.stream.skip("state_update", raw)
		return
	}
	m := message{Error: u.Error}
	if u.StopReason == "error" && m.Error == nil {
		m.Error = &fault{Message: "the client names no cause"}
	}
	if m.Error == nil {
		m.Result, _ = json.Marshal(struct {
			Reason string `json:"stopReason"`
		}{u.StopReason})
	}
	e.finished(&m, raw)
}

// message2 handles a whole message or thought, which replaces the pieces that came before.
func (s *stream) message2(u *update, raw []byte) {
	var blocks []block
	if !lenientList(u.Content, &blocks) {
		s.skip(u.Kind, raw)
		return
	}
	var text strings.Builder
	for _, b := range blocks {
		text.WriteString(b.Text)
	}
	if u.Kind == "agent_thought" {
		s.endText(raw)
		s.thought.Reset()
		s.thought.WriteString(text.String())
		return
	}
	s.endThought(raw)
	if u.Message == "" || u.Message != s.message {
		s.endText(raw)
	}
	s.message = u.Message
	s.text.Reset()
	s.text.WriteString(text.String())
}

// fromVersion2 moves what a request of the second version asks for to the fields of the
// first.
func (p *permissionAsked) fromVersion2() {
	switch p.Subject.Type {
	case "tool_call":
		lenient(p.Subject.ToolCall, &p.Call)
	case "command":
		p.Call.ID, p.Call.ToolKind = p.Subject.ID, execute
		p.Call.Input, _ = json.Marshal(map[string]string{"command": p.Subject.Command})
	}
	if p.Call.Title == "" {
		p.Call.Title = p.Title
	}
}
