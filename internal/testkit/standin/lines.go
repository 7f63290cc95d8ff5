package standin

import "encoding/json"

// This file defines the lines of the stream, with the same keys in the same order as in
// the real program.

// tokens is the usage of one request.
type tokens struct {
	Input         int `json:"input_tokens"`
	Output        int `json:"output_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
}

// context returns how much of the model's window the request filled, in tokens.
func (t tokens) context() int { return t.Input + t.CacheCreation + t.CacheRead }

type initLine struct {
	Type           string            `json:"type"`
	Subtype        string            `json:"subtype"`
	Cwd            string            `json:"cwd"`
	SessionID      string            `json:"session_id"`
	Tools          []string          `json:"tools"`
	Servers        []server          `json:"mcp_servers"`
	Model          string            `json:"model"`
	PermissionMode string            `json:"permissionMode"`
	SlashCommands  []string          `json:"slash_commands"`
	APIKeySource   string            `json:"apiKeySource"`
	Version        string            `json:"claude_code_version"`
	OutputStyle    string            `json:"output_style"`
	Agents         []string          `json:"agents"`
	Skills         []string          `json:"skills"`
	Plugins        []any             `json:"plugins"`
	NoAnalytics    bool              `json:"analytics_disabled"`
	NoFeedback     bool              `json:"product_feedback_disabled"`
	UUID           string            `json:"uuid"`
	MemoryPaths    map[string]string `json:"memory_paths"`
	FastMode       string            `json:"fast_mode_state"`
	*initMore
}

// block is one content block of a message.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Thinking  string          `json:"thinking,omitempty"`
	Signature string          `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   *bool           `json:"is_error,omitempty"`
}

type assistantMessage struct {
	Content      []block `json:"content"`
	ID           string  `json:"id"`
	Model        string  `json:"model"`
	Role         string  `json:"role"`
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
	Type         string  `json:"type"`
	Usage        any     `json:"usage"`
	Management   any     `json:"context_management"`
}

type assistantLine struct {
	Type      string  `json:"type"`
	Message   any     `json:"message"`
	Parent    *string `json:"parent_tool_use_id"`
	SessionID string  `json:"session_id"`
	UUID      string  `json:"uuid"`
	Timestamp string  `json:"timestamp,omitempty"`
	Error     string  `json:"error,omitempty"`
	RequestID string  `json:"request_id,omitempty"`
	*apiErrorMore
}

// syntheticMessage is an assistant message that was not written by a model: the program's
// text for an API error, or the answer to a command.
type syntheticMessage struct {
	ID           string         `json:"id"`
	Container    any            `json:"container"`
	Model        string         `json:"model"`
	Role         string         `json:"role"`
	StopDetails  any            `json:"stop_details"`
	StopReason   string         `json:"stop_reason"`
	StopSequence string         `json:"stop_sequence"`
	Type         string         `json:"type"`
	Usage        syntheticUsage `json:"usage"`
	Content      []textBlock    `json:"content"`
	Management   any            `json:"context_management"`
	*syntheticMessageMore
}

// textBlock is a block whose text can be empty.
type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type syntheticUsage struct {
	tokens
	ServerTools webRequests  `json:"server_tool_use"`
	Tier        *string      `json:"service_tier"`
	Cache       cacheBuckets `json:"cache_creation"`
	Geo         *string      `json:"inference_geo"`
	Iterations  *string      `json:"iterations"`
	Speed       *string      `json:"speed"`
	*syntheticMore
}

type webRequests struct {
	Search int `json:"web_search_requests"`
	Fetch  int `json:"web_fetch_requests"`
}

type cacheBuckets struct {
	Hour    int `json:"ephemeral_1h_input_tokens"`
	Minutes int `json:"ephemeral_5m_input_tokens"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"` // a string or a list of blocks
}

// userLine is an echoed prompt, a tool result, a note from the program, or the summary after
// a compaction.
type userLine struct {
	Type       string     `json:"type"`
	Message    message    `json:"message"`
	Parent     *string    `json:"parent_tool_use_id"`
	SessionID  string     `json:"session_id"`
	UUID       string     `json:"uuid"`
	Timestamp  string     `json:"timestamp,omitempty"`
	ToolResult any        `json:"tool_use_result,omitempty"`
	ToolMeta   []toolMeta `json:"tool_result_meta,omitempty"`
	IsReplay   *bool      `json:"isReplay,omitempty"`
	Synthetic  bool       `json:"isSynthetic,omitempty"`
}

type systemLine struct {
	Type          string     `json:"type"`
	Subtype       string     `json:"subtype"`
	Attempt       int        `json:"attempt,omitempty"`
	MaxRetries    int        `json:"max_retries,omitempty"`
	RetryDelayMS  float64    `json:"retry_delay_ms,omitempty"`
	ErrorStatus   *apiStatus `json:"error_status,omitempty"`
	Error         string     `json:"error,omitempty"`
	Estimated     int        `json:"estimated_tokens,omitempty"`
	EstimatedMore int        `json:"estimated_tokens_delta,omitempty"`
	SessionID     string     `json:"session_id"`
	UUID          string     `json:"uuid"`
	Compact       *compact   `json:"compact_metadata,omitempty"`
	Parent        string     `json:"logical_parent_uuid,omitempty"`
}

// compact describes a compaction. The uuids identify the messages that were kept
// unchanged.
type compact struct {
	Trigger    string       `json:"trigger"`
	Pre        int          `json:"pre_tokens"`
	Post       int          `json:"post_tokens"`
	Dropped    int          `json:"cumulative_dropped_tokens"`
	DurationMS int64        `json:"duration_ms"`
	Segment    keptSegment  `json:"preserved_segment"`
	Messages   keptMessages `json:"preserved_messages"`
}

type keptSegment struct {
	Head   string `json:"head_uuid"`
	Anchor string `json:"anchor_uuid"`
	Tail   string `json:"tail_uuid"`
}

type keptMessages struct {
	Anchor string   `json:"anchor_uuid"`
	UUIDs  []string `json:"uuids"`
	All    []string `json:"all_uuids"`
}

type statusLine struct {
	Type         string  `json:"type"`
	Subtype      string  `json:"subtype"`
	Status       *string `json:"status"`
	CompactEnd   string  `json:"compact_result,omitempty"`
	CompactError string  `json:"compact_error,omitempty"`
	SessionID    string  `json:"session_id"`
	UUID         string  `json:"uuid"`
}

type hookLine struct {
	Type      string  `json:"type"`
	Subtype   string  `json:"subtype"`
	HookID    string  `json:"hook_id"`
	Name      string  `json:"hook_name"`
	Event     string  `json:"hook_event"`
	Output    *string `json:"output,omitempty"`
	Stdout    *string `json:"stdout,omitempty"`
	Stderr    *string `json:"stderr,omitempty"`
	ExitCode  *int    `json:"exit_code,omitempty"`
	Outcome   string  `json:"outcome,omitempty"`
	UUID      string  `json:"uuid"`
	SessionID string  `json:"session_id"`
}

type streamLine struct {
	Type      string  `json:"type"`
	Event     any     `json:"event"`
	SessionID string  `json:"session_id"`
	Parent    *string `json:"parent_tool_use_id"`
	UUID      string  `json:"uuid"`
}

type controlLine struct {
	Type     string        `json:"type"`
	Response controlAnswer `json:"response"`
}

type controlAnswer struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Error     string `json:"error,omitempty"`
	Code      string `json:"error_code,omitempty"`
	Response  any    `json:"response,omitempty"`
}

// denial is a tool call that was not allowed.
type denial struct {
	Tool  string          `json:"tool_name"`
	ID    string          `json:"tool_use_id"`
	Input json.RawMessage `json:"tool_input"`
}

// modelUsage is the running total for one model in the process or, in the newer version, in
// the session.
type modelUsage struct {
	Input         int     `json:"inputTokens"`
	Output        int     `json:"outputTokens"`
	CacheRead     int     `json:"cacheReadInputTokens"`
	CacheCreation int     `json:"cacheCreationInputTokens"`
	WebSearch     int     `json:"webSearchRequests"`
	CostUSD       float64 `json:"costUSD"`
	Window        int     `json:"contextWindow"`
	MaxOutput     int     `json:"maxOutputTokens"`
	*modelMore
}

type resultUsage struct {
	Input         int          `json:"input_tokens"`
	CacheCreation int          `json:"cache_creation_input_tokens"`
	CacheRead     int          `json:"cache_read_input_tokens"`
	Output        int          `json:"output_tokens"`
	ServerTools   webRequests  `json:"server_tool_use"`
	Tier          string       `json:"service_tier"`
	Cache         cacheBuckets `json:"cache_creation"`
	Geo           string       `json:"inference_geo"`
	Iterations    []any        `json:"iterations"`
	Speed         string       `json:"speed"`
	*usageMore
}

// resultLine ends a turn. After an interrupt, or if the turn reached a limit of the client,
// the line has errors and no result. After an API error, the result is the error's text.
// is_error is true in both cases.
type resultLine struct {
	Type       string                 `json:"type"`
	Subtype    string                 `json:"subtype"`
	IsError    bool                   `json:"is_error"`
	APIStatus  *apiStatus             `json:"api_error_status,omitempty"`
	DurationMS int64                  `json:"duration_ms"`
	APIMS      int64                  `json:"duration_api_ms"`
	FirstMS    *int64                 `json:"ttft_ms,omitempty"`
	StreamMS   *int64                 `json:"ttft_stream_ms,omitempty"`
	RequestMS  *int64                 `json:"time_to_request_ms,omitempty"`
	Turns      int                    `json:"num_turns"`
	Result     *string                `json:"result,omitempty"`
	StopReason *string                `json:"stop_reason"`
	SessionID  string                 `json:"session_id"`
	CostUSD    float64                `json:"total_cost_usd"`
	Usage      resultUsage            `json:"usage"`
	Models     map[string]*modelUsage `json:"modelUsage"`
	Denials    []denial               `json:"permission_denials"`
	Terminal   string                 `json:"terminal_reason,omitempty"`
	FastMode   string                 `json:"fast_mode_state,omitempty"`
	UUID       string                 `json:"uuid"`
	Errors     []string               `json:"errors,omitempty"`
	*resultMore
}

// apiStatus is the status of an API error. It is 0 for a turn without an error and for a
// refused connection; 0 is printed as null.
type apiStatus int

// MarshalJSON returns the number, or null for 0.
func (s apiStatus) MarshalJSON() ([]byte, error) {
	if s == 0 {
		return []byte("null"), nil
	}
	return json.Marshal(int(s))
}
