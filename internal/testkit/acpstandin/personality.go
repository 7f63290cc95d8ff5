package acpstandin

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Personality describes how one real client differs from the others. JSON can override
// its fields.
type Personality struct {
	Name    string `json:"name"`    // agentInfo.name
	Title   string `json:"title"`   // agentInfo.title; omitted if ""
	Version string `json:"version"` // agentInfo.version

	Protocol int    `json:"protocol"` // protocol version in the answer to initialize
	IDs      string `json:"ids"`      // format of session ids: uuid, ses or cli
	Login    bool   `json:"login"`    // session/new returns an error because a login is missing

	// Servers specifies where the client gets its MCP servers: session (from session/new),
	// trusted (from session/new, only with --skip-trust or GEMINI_CLI_TRUST_WORKSPACE), flag
	// (--additional-mcp-config), file (the file named by CLINE_MCP_SETTINGS_PATH) or none.
	Servers  string `json:"servers"`
	ToolName string `json:"tool_name"` // format string for the names of the server and the tool
	BareTool bool   `json:"bare_tool"` // questions name the tool without its server
	// LateServers means that servers start only with the first prompt.
	LateServers bool `json:"late_servers"`
	ClosedEnv   bool `json:"closed_env"` // an MCP server gets only a few variables of the client's environment
	// AllowedTools contains the flags that name a server or tool that the client may use
	// without permission.
	AllowedTools []string `json:"allowed_tools"`

	// Asks specifies when the client asks for permission: always, dangerous (only for rm
	// -rf) or never. AsksTools is the same for MCP tools: always, mute (without the
	// arguments) or never.
	Asks      string   `json:"asks"`
	AsksTools string   `json:"asks_tools"`
	Options   []Option `json:"options"`
	// Calls is the order of a tool call's messages: call (tool_call, question, update), update
	// (update, question, tool_call, update), question (question, update) or partial (tool_call
	// without the command, update, question, update).
	Calls string `json:"calls"`
	// Input specifies the fields of a command's rawInput: command, commands (a list), both
	// or none.
	Input string `json:"input"`
	// Refused specifies what happens after a refused call: goes-on, ends, says (the client
	// sends some text, then ends the turn) or cancelled (the turn is cancelled, unless the
	// call is for an MCP tool).
	Refused string `json:"refused"`
	// CancelWaits means that session/cancel has no effect while a question is open.
	CancelWaits bool `json:"cancel_waits"`

	// Usage specifies which tokens a response reports: turn, call (those of the last
	// model call), session (a running total), quota (those of the turn, in _meta) or
	// none.
	Usage   string `json:"usage"`
	Context bool   `json:"context"` // usage_update reports used and size
	Cost    bool   `json:"cost"`    // usage_update reports the cost of the session

	Resume bool `json:"resume"` // supports session/resume
	Load   bool `json:"load"`   // supports session/load, which replays the history
	Late   bool `json:"late"`   // part of the replay is sent after the response
	// Missing is the error for an unknown session; %s is its id.
	Missing rpcError `json:"missing"`

	Errors  []Error `json:"errors"`  // how the client reports errors from the model's service; the first match applies
	Silence int     `json:"silence"` // time without output before a silent error, in milliseconds
	// CancelEnds means that session/cancel during this silence ends the turn with
	// end_turn, not with cancelled.
	CancelEnds bool `json:"cancel_ends"`
	ZeroUsed   bool `json:"zero_used"` // a usage_update with 0 used tokens precedes an error

	StaysOpen bool   `json:"stays_open"` // keeps running after its input ends if it has an MCP server
	ExitAfter int    `json:"exit_after"` // time from the end of its input to its exit, in milliseconds
	Launcher  string `json:"launcher"`   // how a launcher process handles signals: forwards, dies or deaf; "" means no launcher
	Signals   bool   `json:"signals"`    // exits with status 0 on a signal
	Daemon    bool   `json:"daemon"`     // leaves a daemon running, unless CLINE_SESSION_BACKEND_MODE is local

	Modes    []string `json:"modes"` // the first mode is the default
	Models   []string `json:"models"`
	ModesBy  string   `json:"modes_by"` // modes (session/set_mode), options (session/set_config_option) or both
	Steering bool     `json:"steering"`

	// AsksFiles means that the client requests fs/write_text_file with the text of a
	// file, and writes the file itself if the request is refused.
	AsksFiles bool   `json:"asks_files"`
	Prefix    string `json:"prefix"` // a warning that precedes each answer
	Noise     bool   `json:"noise"`  // sends unknown updates, fields, notifications and a request
}

// An Option is one of the answers that a question offers.
type Option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// An Error describes how the client reports an error from its model's service.
type Error struct {
	Statuses []int `json:"statuses"` // empty: all
	// As is error (a JSON-RPC error), code (one with the status as its code), login (one that
	// demands a login), system (a message, end_turn and the status systemError), text (a
	// message that begins with "Error: ", end_turn) or usage (only for "@status 429 usage": a
	// JSON-RPC error that names the limit).
	As     string `json:"as"`
	Silent bool   `json:"silent"` // the error is reported only after Silence
}

var standard = []Option{{"allow_once", "allow_once", "Allow once"}, {"allow_always", "allow_always", "Always allow"}, {"reject_once", "reject_once", "Reject"}}

// notThere is the error that the protocol library returns for an unknown session.
var notThere = rpcError{Code: -32002, Message: "Resource not found: %s", Data: map[string]any{"uri": "%s"}}

// copilotMode is the prefix of copilot's mode ids.
const copilotMode = "https://agentclientprotocol.com/protocol/session-modes#"

// outage contains the statuses after which clients keep retrying for a long time.
var outage = []int{429, 500, 502, 503, 504, 529}

// Personalities maps the name of each backend to the personality of its client.
var Personalities = map[string]Personality{
	"acp": {
		Missing: notThere,
		Name:    "stand-in", Title: "Stand-in", Version: "1.0.0", Protocol: 1, IDs: "uuid", Servers: "session", ToolName: "mcp__%s__%s",
		Asks: "always", AsksTools: "always", Options: standard, Calls: "call", Input: "command", Refused: "goes-on",
		Usage: "turn", Context: true, Cost: true, Resume: true, Load: true, Errors: []Error{{As: "error"}},
		Modes: []string{"default", "plan", "yolo"}, Models: []string{"stand-in-1"}, ModesBy: "modes", Steering: true,
	},
	"codex": {
		Missing: rpcError{Code: -32603, Message: "Internal error", Data: map[string]any{"details": "no rollout found for thread id %s"}},
		Name:    "@agentclientprotocol/codex-acp", Title: "Codex", Version: "2.6.0", Protocol: 1, IDs: "uuid",
		Servers: "session", ToolName: "mcp.%s.%s", ClosedEnv: true,
		Asks: "dangerous", AsksTools: "mute", Calls: "call", Input: "command", Refused: "cancelled",
		Options: []Option{{"allow_once", "allow_once", "Allow once"}, {"accept_execpolicy_amendment", "allow_always", "Always allow"}, {"cancel", "reject_once", "Reject"}},
		Usage:   "turn", Context: true, Resume: true, Load: true,
		Errors:   []Error{{Statuses: []int{401}, As: "login"}, {Statuses: []int{429}, As: "usage"}, {As: "system"}},
		Launcher: "forwards", ExitAfter: 2000, Modes: []string{"agent", "read-only", "workspace-write", "agent-full-access"},
		Models: []string{"gpt-6.1-sol[medium]"}, ModesBy: "modes", Steering: true,
		Prefix: "Warning: Model metadata for `stub-model` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.\n\n",
	},
	"opencode": {
		Missing: rpcError{Code: -32603, Message: "Internal error: OpenCode service failure", Data: map[string]any{"service": "session"}},
		Name:    "OpenCode", AsksFiles: true, Version: "1.18.33", Protocol: 1, IDs: "ses", Servers: "session", ToolName: "%s_%s",
		Asks: "always", AsksTools: "never", Calls: "partial", Input: "command", Refused: "ends",
		Options: []Option{{"once", "allow_once", "Allow once"}, {"always", "allow_always", "Always allow"}, {"reject", "reject_once", "Reject"}},
		Usage:   "call", Context: true, Cost: true, Resume: true, Load: true,
		Errors: []Error{{Statuses: outage, As: "error", Silent: true}, {As: "error"}}, Silence: 68000, CancelEnds: true, ZeroUsed: true,
		Modes: []string{"build", "plan"}, Models: []string{"local/stub-model"}, ModesBy: "options",
	},
	"copilot": {
		Missing: rpcError{Code: -32002, Message: "Resource not found: Session %s not found", Data: map[string]any{"uri": "Session %s not found"}},
		Name:    "Copilot", Title: "Copilot", Version: "1.0.102", Protocol: 1, IDs: "uuid",
		Servers: "flag", ToolName: "%s-%s", BareTool: true, AllowedTools: []string{"--allow-tool"},
		Asks: "always", AsksTools: "always", Options: standard, Calls: "call", Input: "both", Refused: "says",
		Usage: "session", Context: true, Load: true,
		Errors: []Error{{Statuses: outage, As: "text", Silent: true}, {Statuses: []int{401}, As: "text", Silent: true}, {As: "text"}}, Silence: 15000,
		Launcher: "dies", Modes: []string{copilotMode + "agent", copilotMode + "plan", copilotMode + "autopilot"}, Models: []string{"stub-model"}, ModesBy: "both",
	},
	"gemini": {
		Missing: rpcError{Code: -32603, Message: "Internal error", Data: map[string]any{"details": "No previous sessions found for this project."}},
		Name:    "gemini-cli", Title: "Gemini CLI", Version: "0.61.0", Protocol: 1, IDs: "uuid",
		Servers: "trusted", ToolName: "mcp_%s_%s", AllowedTools: []string{"--allowed-tools"},
		Asks: "always", AsksTools: "always", Calls: "question", Input: "none", Refused: "goes-on", CancelWaits: true,
		Options: []Option{{"proceed_always", "allow_always", "Allow for this session"}, {"proceed_once", "allow_once", "Allow"}, {"cancel", "reject_once", "Reject"}},
		Usage:   "quota", Load: true, Late: true,
		Errors: []Error{{Statuses: outage, As: "code", Silent: true}, {As: "code"}}, Silence: 80000,
		StaysOpen: true, Launcher: "deaf", Signals: true, Modes: []string{"default", "autoEdit", "yolo", "plan"}, Models: []string{"gemini-2.5-flash"}, ModesBy: "modes",
	},
	"cline": {
		Missing: notThere,
		Name:    "cline", LateServers: true, Version: "3.0.65", Protocol: 1, IDs: "cli", Servers: "file", ToolName: "%s__%s",
		Asks: "always", AsksTools: "always", Options: standard, Calls: "update", Input: "commands", Refused: "goes-on", CancelWaits: true,
		Usage: "none", Load: true,
		Errors: []Error{{Statuses: outage, As: "error", Silent: true}, {As: "error"}}, Silence: 62000,
		Signals: true, Daemon: true, Modes: []string{"act", "plan"}, Models: []string{"gpt-4o"}, ModesBy: "modes",
	},
}

// personality returns the personality called name, with the changes in quirks.
func personality(name, quirks string) (Personality, error) {
	if name == "" {
		name = "acp"
	}
	p, ok := Personalities[name]
	if !ok {
		return p, fmt.Errorf("no personality is called %q", name)
	}
	if quirks == "" {
		return p, nil
	}
	d := json.NewDecoder(bytes.NewReader([]byte(quirks)))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("ACPSTANDIN_QUIRKS: %w", err)
	}
	return p, nil
}
