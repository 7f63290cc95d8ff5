package streamjson

import (
	"encoding/json"
	"slices"
	"time"
)

// A Kind is the kind of an event; it determines which fields are set.
type Kind string

const (
	KindInit      Kind = "init"      // a turn begins: Init
	KindAssistant Kind = "assistant" // model output: Blocks, Model, MessageID, Usage, Error
	KindUser      Kind = "user"      // tool results, notes from the client: Blocks
	KindReplay    Kind = "replay"    // the client has read a message that was sent to it: UUID, Blocks
	KindPartial   Kind = "partial"   // part of the output that is still being written: at most one block
	KindResult    Kind = "result"    // a turn ends: Result, Usage
	KindStatus    Kind = "status"    // Status
	KindCompact   Kind = "compact"   // the context was compacted: Compact
	KindRetry     Kind = "retry"     // the client is about to retry an API request: Retry
	KindHook      Kind = "hook"      // Hook
	KindTask      Kind = "task"      // a sub-agent or background command: Task
	KindCommand   Kind = "command"   // the state of a prompt: Command (since 2.1.330)
	KindControl   Kind = "control"   // Control
	KindOther     Kind = "other"     // any other line: What
	KindBad       Kind = "bad"       // the line is not a JSON object or exceeds the limit
)

// A BlockKind is the kind of a block.
type BlockKind string

const (
	BlockText       BlockKind = "text"        // Text
	BlockThinking   BlockKind = "thinking"    // Text
	BlockToolUse    BlockKind = "tool_use"    // ID, Name, Input
	BlockToolResult BlockKind = "tool_result" // ID, Text, Failed, Lost
	BlockOther      BlockKind = "other"       // Name is the block's type, such as "image"
)

// ModelSynthetic is the model name for text that the client itself wrote, such as API
// errors and the output of its commands.
const ModelSynthetic = "<synthetic>"

// MaxResult is the maximum number of bytes, including the note about the cut, that are
// kept from a tool result's text or a hook's output.
const MaxResult = 16 << 10

// An Event represents one line of the stream. Fields that are missing from a line are zero.
// An Event can be marshaled to JSON and back without loss, except for Raw.
//
// An event that a [Decoder] returns is valid until the next call to Next; see "Keeping
// events" in the package comment.
type Event struct {
	Kind    Kind   `json:"kind"`
	What    string `json:"what,omitempty"` // for kind other: the line's type, or type/subtype
	Session string `json:"session,omitempty"`
	UUID    string `json:"uuid,omitempty"`
	// Parent is the id of the tool call whose sub-agent produced the event; "" means the
	// main conversation.
	Parent string `json:"parent,omitempty"`
	// Synthetic marks text that the client itself added: summaries after a compaction,
	// hook output, and all text from ModelSynthetic.
	Synthetic bool   `json:"synthetic,omitempty"`
	Model     string `json:"model,omitempty"`
	MessageID string `json:"message_id,omitempty"` // the same for all blocks of one reply
	Error     string `json:"error,omitempty"`      // for kind assistant: rate_limit, authentication_failed, …
	// APIError contains details of the Error in an assistant line; nil before 2.1.330.
	APIError *APIError `json:"api_error,omitempty"`
	Blocks   []Block   `json:"blocks,omitempty"`

	// For kind assistant, Usage contains the usage of one request, and its Output is not
	// final; see [Event.ContextTokens]. For kind result, it is the sum over all of the
	// turn's requests in the main conversation.
	Usage   *Usage   `json:"usage,omitempty"`
	Init    *Init    `json:"init,omitempty"`
	Result  *Result  `json:"result,omitempty"`
	Compact *Compact `json:"compact,omitempty"`
	Retry   *Retry   `json:"retry,omitempty"`
	Hook    *Hook    `json:"hook,omitempty"`
	Status  *Status  `json:"status,omitempty"`
	Task    *Task    `json:"task,omitempty"`
	Command *Command `json:"command,omitempty"`
	Control *Control `json:"control,omitempty"`

	// Raw is the kept part of the line, without its newline.
	Raw []byte `json:"-"`
	// Lost is the number of bytes beyond the line limit; they are not in Raw.
	Lost int64 `json:"lost,omitempty"`
}

// An APIError is an API error as reported by the client.
type APIError struct {
	Status int    `json:"status,omitempty"` // HTTP status; 0 if there was no response
	Type   string `json:"type,omitempty"`   // the API's name for the error: rate_limit_error, overloaded_error, …
	Code   string `json:"code,omitempty"`   // the client's name for the error: usage_limit_reached, connection_failed, …
	// ResetsAt is the time when the limit ends, in seconds since 1970; 0 if unknown.
	ResetsAt int64 `json:"resets_at,omitempty"`
}

// A Block is a part of a message.
type Block struct {
	Kind   BlockKind       `json:"kind"`
	Text   string          `json:"text,omitempty"`
	ID     string          `json:"id,omitempty"` // the id of the tool call, also in its result
	Name   string          `json:"name,omitempty"`
	Input  json.RawMessage `json:"input,omitempty"`
	Failed bool            `json:"failed,omitempty"`
	Lost   int64           `json:"lost,omitempty"` // number of bytes that were cut from Text
}

// Usage counts tokens.
type Usage struct {
	Input      int `json:"input,omitempty"`
	Output     int `json:"output,omitempty"`
	CacheRead  int `json:"cache_read,omitempty"`
	CacheWrite int `json:"cache_write,omitempty"`
}

// Context returns the size of a request to the model, in tokens.
func (u Usage) Context() int { return u.Input + u.CacheRead + u.CacheWrite }

// Init contains the settings at the beginning of a turn.
type Init struct {
	Cwd            string `json:"cwd,omitempty"`
	Model          string `json:"model,omitempty"`
	PermissionMode string `json:"permission_mode,omitempty"`
	Version        string `json:"version,omitempty"` // the client's version
	// KeySource is the source of the client's API key, such as ANTHROPIC_API_KEY. It is
	// "none" if the client uses a login or has no credentials.
	KeySource string   `json:"key_source,omitempty"`
	Tools     []string `json:"tools,omitempty"`
	Servers   []Server `json:"servers,omitempty"`
}

// A Server is an MCP server and its status: connected, pending or failed.
type Server struct {
	Name   string `json:"name,omitempty"`
	Status string `json:"status,omitempty"`
}

// A Result describes how a turn ended. IsError, not Subtype, determines whether the turn
// succeeded, because an API error sets IsError but has the subtype "success". The decoder
// also sets IsError if the subtype begins with "error": earlier clients, and programs around
// them, print such a result with is_error false.
type Result struct {
	Subtype   string        `json:"subtype,omitempty"`
	IsError   bool          `json:"is_error,omitempty"`
	APIStatus int           `json:"api_status,omitempty"` // HTTP status of the API error, or 0
	APIType   string        `json:"api_type,omitempty"`   // as in [APIError]; since 2.1.330
	APICode   string        `json:"api_code,omitempty"`   // as in [APIError]; since 2.1.330
	Text      string        `json:"text,omitempty"`       // the agent's final message, which is never cut
	Errors    []string      `json:"errors,omitempty"`
	Turns     int           `json:"turns,omitempty"`
	Duration  time.Duration `json:"duration_ns,omitempty"`
	// CostUSD is the cost in US dollars, including sub-agents and compactions. For Claude
	// Code it is a running total; other clients may count differently (runner.CostWay).
	// Claude Code 2.1.197 counts from the start of its process; 2.1.330 continues the
	// total of the earlier processes of a resumed session. Both versions restart at 0
	// after /clear.
	CostUSD float64 `json:"cost_usd,omitempty"`
	// CostUnknown indicates that the client did not report a cost for this result. In
	// that case CostUSD is 0.
	CostUnknown bool `json:"cost_unknown,omitempty"`
	// SinceLastUSD is the cost, in US dollars, since the process's last result or, for
	// the first result, since the process started. It is nil if the client does not
	// report it (2.1.197).
	SinceLastUSD   *float64 `json:"since_last_usd,omitempty"`
	StopReason     string   `json:"stop_reason,omitempty"`
	TerminalReason string   `json:"terminal_reason,omitempty"`
	Denials        []Denial `json:"denials,omitempty"`
	// ContextLimit is the context size, in tokens, of the main conversation's model. This
	// is the model that Init specified or, if the result does not list that model, the
	// model that read the most tokens. 0 means unknown.
	ContextLimit int          `json:"context_limit,omitempty"`
	Models       []ModelUsage `json:"models,omitempty"` // sorted by name
}

// A Denial is a tool call that was not permitted.
type Denial struct {
	Tool  string          `json:"tool,omitempty"`
	ID    string          `json:"id,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
}

// ModelUsage is the usage of one model. It is a running total like [Result.CostUSD].
type ModelUsage struct {
	Model         string  `json:"model,omitempty"`
	Usage         Usage   `json:"usage,omitzero"`
	CostUSD       float64 `json:"cost_usd,omitempty"`
	ContextWindow int     `json:"context_window,omitempty"` // tokens
}

// Compact describes a successful compaction.
type Compact struct {
	Trigger string `json:"trigger,omitempty"` // auto or manual
	Pre     int    `json:"pre,omitempty"`     // tokens before
	Post    int    `json:"post,omitempty"`    // number of tokens in the summary, which is not the size of the next request
}

// Retry reports that the client will retry the API request after Delay.
type Retry struct {
	Attempt int           `json:"attempt,omitempty"`
	Max     int           `json:"max,omitempty"`
	Delay   time.Duration `json:"delay_ns,omitempty"`
	Status  int           `json:"status,omitempty"` // HTTP status; 0 if there was no connection
	Error   string        `json:"error,omitempty"`
}

// Hook reports that a hook has started or responded.
type Hook struct {
	Phase    string `json:"phase,omitempty"` // started or response
	Event    string `json:"event,omitempty"` // such as SessionStart
	Name     string `json:"name,omitempty"`  // such as SessionStart:compact
	ID       string `json:"id,omitempty"`
	ExitCode int    `json:"exit_code,omitempty"`
	Outcome  string `json:"outcome,omitempty"` // success, error or cancelled
	Output   string `json:"output,omitempty"`
	Lost     int64  `json:"lost,omitempty"` // number of bytes that were cut from Output
}

// Status describes what the client is doing.
type Status struct {
	Text          string `json:"text,omitempty"`           // compacting, requesting or ""
	CompactResult string `json:"compact_result,omitempty"` // success or failed
	CompactError  string `json:"compact_error,omitempty"`
}

// Task describes a sub-agent or a background command.
type Task struct {
	// Phase is started, progress, updated, notification or background. A Task in the
	// background phase does not describe a single task; it lists all background tasks.
	Phase   string `json:"phase,omitempty"`
	ID      string `json:"id,omitempty"`
	Type    string `json:"type,omitempty"`     // such as local_bash, or local_agent for a sub-agent
	ToolUse string `json:"tool_use,omitempty"` // id of the tool call that started the task
	Status  string `json:"status,omitempty"`
	Summary string `json:"summary,omitempty"` // the summary or, if there is none, the description
	// Foreground means that the tool call waits for the task that it started. False means
	// that the tool call does not wait, or that this is unknown (2.1.197).
	Foreground bool `json:"foreground,omitempty"`
	// Background lists all background tasks, with only the ID and Type of each. It is nil in
	// the other phases, and if there are no background tasks.
	Background []Task `json:"background,omitempty"`
}

// Command is the state of a prompt.
type Command struct {
	UUID  string `json:"uuid,omitempty"`  // the UUID of the prompt
	State string `json:"state,omitempty"` // queued, started, completed or cancelled
}

// Control is a request or a response outside the conversation.
type Control struct {
	Type      string `json:"type,omitempty"` // request, response or cancel
	RequestID string `json:"request_id,omitempty"`
	Subtype   string `json:"subtype,omitempty"`
	OK        bool   `json:"ok,omitempty"`
	Error     string `json:"error,omitempty"`
}

// ContextTokens returns the size of the main conversation in tokens, according to this
// event. Only the model's replies in the main conversation show the size, because
// sub-agents have a separate context and text from the client has no usage.
func (e *Event) ContextTokens() (int, bool) {
	if e.Kind != KindAssistant || e.Parent != "" || e.Synthetic || e.Usage == nil {
		return 0, false
	}
	return e.Usage.Context(), true
}

// Clone returns a copy that later calls to [Decoder.Next] do not change.
func (e *Event) Clone() *Event {
	c := *e
	c.Raw = slices.Clone(e.Raw)
	c.Blocks = slices.Clone(e.Blocks)
	for i := range c.Blocks {
		c.Blocks[i].Input = slices.Clone(c.Blocks[i].Input)
	}
	c.APIError = clone(e.APIError)
	c.Usage = clone(e.Usage)
	c.Compact = clone(e.Compact)
	c.Retry = clone(e.Retry)
	c.Hook = clone(e.Hook)
	c.Status = clone(e.Status)
	if c.Task = clone(e.Task); c.Task != nil {
		c.Task.Background = slices.Clone(c.Task.Background)
	}
	c.Command = clone(e.Command)
	c.Control = clone(e.Control)
	if c.Init = clone(e.Init); c.Init != nil {
		c.Init.Tools = slices.Clone(c.Init.Tools)
		c.Init.Servers = slices.Clone(c.Init.Servers)
	}
	if c.Result = clone(e.Result); c.Result != nil {
		c.Result.SinceLastUSD = clone(c.Result.SinceLastUSD)
		c.Result.Errors = slices.Clone(c.Result.Errors)
		c.Result.Models = slices.Clone(c.Result.Models)
		c.Result.Denials = slices.Clone(c.Result.Denials)
		for i := range c.Result.Denials {
			c.Result.Denials[i].Input = slices.Clone(c.Result.Denials[i].Input)
		}
	}
	return &c
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}
