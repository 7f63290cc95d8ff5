package fakeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// Scenario is the whole script. The package comment explains each key. A scenario must not
// change once a [Server] has begun to play it.
type Scenario struct {
	Replies     []Reply           `json:"replies"`
	Fallback    *Reply            `json:"fallback"` // answers a main request that no reply matches
	Side        *Reply            `json:"side"`
	Compact     *Reply            `json:"compact"`
	CountTokens int               `json:"count_tokens"`
	Headers     map[string]string `json:"headers"`
}

// Reply is one scripted answer: a message, or an HTTP error if Status or RawBody is set.
// It also specifies the speed and the faults of its delivery.
type Reply struct {
	Name  string `json:"name"`
	Match *Match `json:"match"`
	Times int    `json:"times"` // number of requests that the reply can answer; 0 means 1, and a negative number means no limit

	Text          string  `json:"text"`
	Content       []Block `json:"content"`
	StopReason    string  `json:"stop_reason"`
	Usage         *Usage  `json:"usage"`
	ContextTokens int     `json:"context_tokens"`

	Refusal
	Delivery
}

// Refusal is an HTTP error that is sent instead of a message. ErrorType and ErrorMessage
// also apply to an error event in the middle of a stream.
type Refusal struct {
	Status       int    `json:"status"`
	ErrorType    string `json:"error_type"`
	ErrorMessage string `json:"error_message"`
	RawBody      string `json:"raw_body"`
}

// Delivery specifies how to send a reply: when, in which pieces, and with which faults.
// Events are counted from 1; 0 means never.
type Delivery struct {
	Headers          map[string]string `json:"headers"`
	DelayMS          int               `json:"delay_ms"`
	Drop             bool              `json:"drop"`
	ChunkRunes       int               `json:"chunk_runes"`
	ChunkDelayMS     int               `json:"chunk_delay_ms"`
	CutAfterEvents   int               `json:"cut_after_events"`
	CutWithReset     bool              `json:"cut_with_reset"`
	ErrorAfterEvents int               `json:"error_after_events"`
	StallAfterEvents int               `json:"stall_after_events"`
	StallMS          int               `json:"stall_ms"`
}

// Block is one content block; exactly one of its fields is set.
type Block struct {
	Text     string         `json:"text"`
	Thinking string         `json:"thinking"`
	Redacted string         `json:"redacted_thinking"`
	Repeat   *Repeat        `json:"repeat"`
	ToolUse  *ToolUse       `json:"tool_use"`
	Raw      map[string]any `json:"raw"`
}

// Repeat is a text block that repeats one piece many times, for a huge reply.
type Repeat struct {
	Text  string `json:"text"`
	Times int    `json:"times"`
}

// ToolUse asks the client to run a tool. If ID is empty, the server makes one up.
type ToolUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Usage contains the token counts of one reply.
type Usage struct {
	InputTokens              int `json:"input_tokens"`
	OutputTokens             int `json:"output_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
}

// Match specifies which requests a reply can answer.
type Match struct {
	Kind               Kind              `json:"kind"`
	LastUserContains   string            `json:"last_user_contains"`
	LastUserRegexp     *regexp.Regexp    `json:"last_user_regexp"`
	LastIsToolResult   *bool             `json:"last_is_tool_result"`
	ToolResultContains string            `json:"tool_result_contains"`
	AnyContains        string            `json:"any_contains"`
	NotContains        string            `json:"not_contains"`
	SystemContains     string            `json:"system_contains"`
	ModelContains      string            `json:"model_contains"`
	ToolOffered        string            `json:"tool_offered"`
	ToolNotOffered     string            `json:"tool_not_offered"`
	Header             map[string]string `json:"header"`
	MinMessages        int               `json:"min_messages"`
	MaxMessages        int               `json:"max_messages"`
}

// Load reads a scenario and checks it. Replies without a name are named after their
// position: reply-1, reply-2 and so on.
func Load(r io.Reader) (*Scenario, error) {
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	s := new(Scenario)
	if err := dec.Decode(s); err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("scenario: trailing data after the end")
	}
	for i := range s.Replies {
		if r := &s.Replies[i]; r.Name == "" {
			r.Name = fmt.Sprintf("reply-%d", i+1)
		}
	}
	for reply := range s.all() {
		if err := reply.check(); err != nil {
			return nil, fmt.Errorf("scenario: %s: %w", reply.Name, err)
		}
	}
	return s, nil
}

// all yields the replies, then the three special replies, which it names if they have no
// name.
func (s *Scenario) all() func(yield func(*Reply) bool) {
	return func(yield func(*Reply) bool) {
		for i := range s.Replies {
			if !yield(&s.Replies[i]) {
				return
			}
		}
		for _, special := range []struct {
			name  string
			reply *Reply
		}{{"fallback", s.Fallback}, {"side", s.Side}, {"compact", s.Compact}} {
			if special.reply == nil {
				continue
			}
			if special.reply.Name == "" {
				special.reply.Name = special.name
			}
			if !yield(special.reply) {
				return
			}
		}
	}
}

// check finds mistakes that would otherwise go unnoticed.
func (r *Reply) check() error {
	if r.Match != nil && !r.Match.Kind.known() {
		return fmt.Errorf("kind %q is not one of main, compact, side, quota, any", r.Match.Kind)
	}
	if r.Status != 0 && (r.Status < 200 || r.Status > 599) {
		return fmt.Errorf("status %d is not an HTTP status", r.Status)
	}
	for i, b := range r.Content {
		set := 0
		for _, is := range []bool{
			b.Text != "", b.Thinking != "", b.Redacted != "", b.Repeat != nil, b.ToolUse != nil, b.Raw != nil,
		} {
			if is {
				set++
			}
		}
		if set != 1 {
			return fmt.Errorf("block %d has %d of text, thinking, redacted_thinking, repeat, tool_use, raw, want 1", i+1, set)
		}
		if b.Repeat != nil && b.Repeat.Times < 0 {
			return fmt.Errorf("block %d is repeated %d times", i+1, b.Repeat.Times)
		}
		if b.ToolUse != nil && b.ToolUse.Name == "" {
			return fmt.Errorf("block %d: the tool has no name", i+1)
		}
	}
	return nil
}

// uses returns the number of requests that r can answer; a negative number means no
// limit.
func (r *Reply) uses() int {
	if r.Times == 0 {
		return 1
	}
	return r.Times
}
