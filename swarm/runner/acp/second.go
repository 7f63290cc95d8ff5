package acp

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The second version of the protocol is a draft from July 2026. In it, the answer to a
// prompt only means that the client accepts the prompt, and an update reports the end of
// the turn. The client cannot request file operations, and there are no modes. An update
// replaces the whole message or tool call that has its id. This file contains the
// parameters and the answers that differ from the first version.

// initialize2 contains the parameters of initialize.
type initialize2 struct {
	Version int                     `json:"protocolVersion"`
	Info    protocol.Implementation `json:"info"`
	Can     struct{}                `json:"capabilities"`
}

// open2 contains the parameters of session/new and session/resume.
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

// setOption contains the parameters of session/set_config_option; the first version has no
// type field.
type setOption struct {
	Session string `json:"sessionId"`
	Setting string `json:"configId"`
	Type    string `json:"type,omitempty"`
	Value   string `json:"value"`
}

// openSecond returns the request that opens the turn's session. Every client of the
// second version can resume a session.
func openSecond(c *Client, t *runner.Turn, rest map[string]any) []byte {
	params := open2{Dir: t.Spec.Dir, Servers: []server2{}, Meta: rest}
	if c.Servers == inSession {
		all := serversOf(*t)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			s := all[name]
			params.Servers = append(params.Servers, server2{Type: cmp.Or(s.Type, "stdio"), Name: name, Command: s.Command, Args: s.Args, Env: variables(s.Env), URL: s.URL, Headers: headers(s.Headers)})
		}
	}
	method := protocol.AgentMethodSessionNew
	if t.Session.How == runner.Resume {
		method, params.Session = protocol.AgentMethodSessionResume, t.Session.ID
	}
	return request(idOpen, method, params)
}

// answer2 converts a state change that ends the turn into the first version's answer to
// the prompt. ok is false for any other state change.
func (u *update) answer2() (m message, ok bool) {
	if u.State != "idle" || u.StopReason == "" {
		return message{}, false
	}
	m.Error = u.Error
	if u.StopReason == "error" && m.Error == nil {
		m.Error = &fault{Message: "the client gave no reason"}
	}
	if m.Error == nil {
		m.Result, _ = json.Marshal(struct {
			Reason string `json:"stopReason"`
		}{u.StopReason})
	}
	return m, true
}

// fromVersion2 sets the fields of the first version from a request of the second version.
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
