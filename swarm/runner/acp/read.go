package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// These are the versions of the protocol.
const (
	first  = 1
	second = 2
)

// The types in this file contain the fields of the client's messages that we use. The
// types in version 0.13.0 of the library cannot be used, because they discard the names
// that codex and claude give to tool calls, and they reject the whole answer to
// session/new if one setting has an unknown form.

// initialized is the answer to initialize.
type initialized struct {
	Version int       `json:"protocolVersion"`
	Agent   agentInfo `json:"agentInfo"`
	Info    agentInfo `json:"info"` // of version 2
	Can     struct {
		Load bool `json:"loadSession"`
		MCP  struct {
			HTTP bool `json:"http"`
			SSE  bool `json:"sse"`
		} `json:"mcpCapabilities"`
		Session map[string]json.RawMessage `json:"sessionCapabilities"`
	} `json:"agentCapabilities"`
	Login []struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"authMethods"`
	Meta struct {
		Steering struct {
			Supported bool `json:"supported"`
		} `json:"steering"`
	} `json:"_meta"`
}

// agentInfo contains the name and the version that a client reports.
type agentInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

// version returns the client's version.
func (i *initialized) version() string { return cmp.Or(i.Agent.Version, i.Info.Version) }

// resumes reports whether the client can resume a session of an earlier process without a
// replay.
func (i *initialized) resumes() bool {
	_, ok := i.Can.Session["resume"]
	return ok || i.Version >= second
}

// opened is the answer to session/new, session/load and session/resume.
type opened struct {
	Session string `json:"sessionId"`
	Modes   struct {
		Current string `json:"currentModeId"`
		All     []struct {
			ID string `json:"id"`
		} `json:"availableModes"`
	} `json:"modes"`
	Models struct {
		Current string `json:"currentModelId"`
	} `json:"models"`
	Settings []clientSetting `json:"configOptions"`
}

// A clientSetting is a setting of the client that we may change.
type clientSetting struct {
	ID       string          `json:"id"`
	Name     string          `json:"configId"` // its id in version 2
	Category string          `json:"category"`
	Value    json.RawMessage `json:"currentValue"`
}

func (s clientSetting) id() string { return cmp.Or(s.ID, s.Name) }

// fullMode returns the id of the mode with the given name. copilot's ids are URLs that
// end in # and the name.
func (o *opened) fullMode(name string) string {
	for _, m := range o.Modes.All {
		if strings.HasSuffix(m.ID, "#"+name) {
			return m.ID
		}
	}
	return name
}

// modes returns the names of the permission modes.
func (o *opened) modes() (names []string) {
	for _, m := range o.Modes.All {
		names = append(names, m.ID[strings.LastIndex(m.ID, "#")+1:])
	}
	return names
}

// setting returns the setting with the given name, or else the first one whose category has
// that name, or "". The name takes precedence because in cline, both provider and model have
// the category model.
func (o *opened) setting(name string) (id, value string) {
	i := slices.IndexFunc(o.Settings, func(s clientSetting) bool { return s.id() == name && cmp.Or(s.Category, name) == name })
	if i < 0 {
		i = slices.IndexFunc(o.Settings, func(s clientSetting) bool { return s.Category == name })
	}
	if i < 0 {
		return "", ""
	}
	_ = json.Unmarshal(o.Settings[i].Value, &value) // not every value is a string
	return o.Settings[i].id(), value
}

// finished is the answer to session/prompt.
type finished struct {
	Reason string `json:"stopReason"`
	Usage  *usage `json:"usage"`
	Meta   struct {
		Quota struct {
			Tokens *struct {
				Input  int `json:"input_tokens"`
				Output int `json:"output_tokens"`
			} `json:"token_count"`
			Models []struct {
				Model string `json:"model"`
			} `json:"model_usage"`
		} `json:"quota"`
	} `json:"_meta"`
}

// usage counts tokens.
type usage struct {
	Input      int `json:"inputTokens"`
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cachedReadTokens"`
	CacheWrite int `json:"cachedWriteTokens"`
	Thought    int `json:"thoughtTokens"`
}

// An update is a message in which the client reports on its work: session/update.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Content json.RawMessage `json:"content"` // one block for text, or a list of blocks for a tool call
	toolFields
	Used *int `json:"used"`
	Size *int `json:"size"`
	Cost *struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency"`
	} `json:"cost"`
	Meta meta `json:"_meta"`

	// Only version 2 has these fields.
	Message    string `json:"messageId"`
	State      string `json:"state"`
	StopReason string `json:"stopReason"`
	Error      *fault `json:"error"`
}

// toolFields contains the fields of a tool call. An update has only those that changed.
type toolFields struct {
	ID        string          `json:"toolCallId"`
	Name      string          `json:"name"`
	Title     string          `json:"title"`
	ToolKind  string          `json:"kind"`
	Status    string          `json:"status"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Locations []location      `json:"locations"`
}

// A location is a file that a tool call uses.
type location struct {
	Path string `json:"path"`
}

// meta contains information that some clients report beyond what the protocol defines.
type meta struct {
	Codex struct {
		Thread struct {
			Type string `json:"type"` // active, idle, systemError
		} `json:"threadStatus"`
		Error *struct {
			Message string          `json:"message"`
			Info    json.RawMessage `json:"codexErrorInfo"`
		} `json:"error"`
	} `json:"codex"`
	TerminalOutput struct {
		Data string `json:"data"`
	} `json:"terminal_output_delta"`
	TerminalExit *struct {
		Code int `json:"exit_code"`
	} `json:"terminal_exit"`
	MCPApproval bool `json:"is_mcp_tool_approval"`
	MCPCall     bool `json:"is_mcp_tool_call"`
}

// A block is one piece of text or of a tool's result.
type block struct {
	Type    string `json:"type"` // text, image or resource_link; in the list of a tool call: content, diff or terminal
	Text    string `json:"text"`
	Path    string `json:"path"` // of a diff
	Content *block `json:"content"`
}

// permissionAsked contains the parameters of session/request_permission.
type permissionAsked struct {
	Call struct {
		toolFields
		Content json.RawMessage `json:"content"`
	} `json:"toolCall"`
	Options []option `json:"options"`
	Meta    meta     `json:"_meta"`

	Title   string `json:"title"` // only version 2 has Title and Subject
	Subject struct {
		Type     string          `json:"type"` // tool_call or command
		ToolCall json.RawMessage `json:"toolCall"`
		Command  string          `json:"command"`
		ID       string          `json:"toolCallId"`
	} `json:"subject"`
}

// An option is one of the answers that the client offers.
type option struct {
	ID   string `json:"optionId"`
	Kind string `json:"kind"`
}
