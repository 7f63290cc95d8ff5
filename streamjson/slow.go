package streamjson

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// An object is a JSON object as encoding/json reads it into a map: keys are
// compared exactly, and the last of two equal keys counts. A field that is
// missing or of another type than asked for is zero.
type object map[string]json.RawMessage

func readObject(raw []byte) object {
	var o object
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

func (o object) obj(key string) object { return readObject(o[key]) }

func (o object) str(key string) string { return readString(o[key]) }

func readString(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func (o object) flag(key string) bool { return string(o[key]) == "true" }

func (o object) list(key string) []json.RawMessage {
	var l []json.RawMessage
	if json.Unmarshal(o[key], &l) != nil {
		return nil
	}
	return l
}

func (o object) strs(key string) []string {
	var out []string
	for _, raw := range o.list(key) {
		if isString(raw) {
			out = append(out, readString(raw))
		}
	}
	return out
}

func (o object) float(key string) float64 { return toFloat(o[key]) }
func (o object) int(key string) int       { return toInt(o[key]) }

// raw is the value as it stands on the line; nil when it is missing or null.
func (o object) raw(key string) json.RawMessage {
	if string(o[key]) == "null" {
		return nil
	}
	return o[key]
}

func isString(raw []byte) bool { return len(raw) > 0 && raw[0] == '"' }
func isArray(raw []byte) bool  { return len(raw) > 0 && raw[0] == '[' }

// toFloat reads a JSON number; anything else, and what does not fit, is 0.
func toFloat(num []byte) float64 {
	f, err := strconv.ParseFloat(string(num), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

// toInt reads a JSON number and drops its fraction; what does not fit is 0.
func toInt(num []byte) int {
	if n, err := strconv.Atoi(string(num)); err == nil {
		return n
	}
	if f := toFloat(num); math.Abs(f) < 1<<53 {
		return int(f)
	}
	return 0
}

// milliseconds makes a duration of at most a hundred years of ms.
func milliseconds(ms float64) time.Duration {
	const most = 100 * 365 * 24 * 3600 * 1000
	return time.Duration(min(max(ms, -most), most) * float64(time.Millisecond))
}

// decodeSlow decodes a line with encoding/json. It defines what a line means:
// the fast path must agree with it wherever it does not refuse.
func decodeSlow(line []byte) Event {
	o := readObject(line)
	if o == nil {
		return Event{Kind: KindBad}
	}
	typ, subtype := o.str("type"), o.str("subtype")
	ev := Event{
		Kind:    kindOf(typ, subtype),
		Session: o.str("session_id"),
		UUID:    o.str("uuid"),
		Parent:  o.str("parent_tool_use_id"),
	}
	switch ev.Kind {
	case KindAssistant:
		m := o.obj("message")
		ev.Error = o.str("error")
		ev.APIError = slowAPIError(o)
		ev.Model, ev.MessageID = m.str("model"), m.str("id")
		ev.Blocks = slowBlocks(m["content"])
		ev.Usage = slowUsage(m["usage"])
	case KindUser:
		if o.flag("isReplay") {
			ev.Kind = KindReplay
		}
		ev.Synthetic = o.flag("isSynthetic")
		ev.Blocks = slowBlocks(o.obj("message")["content"])
	case KindPartial:
		ev.Blocks = slowDelta(o.obj("event").obj("delta"))
	case KindResult:
		ev.Usage = slowUsage(o["usage"])
		ev.Result = slowResult(o)
	case KindInit:
		ev.Init = slowInit(o)
	case KindStatus:
		ev.Status = &Status{Text: o.str("status"), CompactResult: o.str("compact_result"), CompactError: o.str("compact_error")}
	case KindCompact:
		m := o.obj("compact_metadata")
		ev.Compact = &Compact{Trigger: m.str("trigger"), Pre: m.int("pre_tokens"), Post: m.int("post_tokens")}
	case KindRetry:
		ev.Retry = &Retry{Attempt: o.int("attempt"), Max: o.int("max_retries"), Delay: milliseconds(o.float("retry_delay_ms")),
			Status: o.int("error_status"), Error: o.str("error")}
	case KindHook:
		h := &Hook{Phase: strings.TrimPrefix(subtype, "hook_"), Event: o.str("hook_event"), Name: o.str("hook_name"),
			ID: o.str("hook_id"), ExitCode: o.int("exit_code"), Outcome: o.str("outcome")}
		h.Output, h.Lost = bound(o.str("output"))
		ev.Hook = h
	case KindTask:
		ev.Task = slowTask(o, subtype)
	case KindCommand:
		ev.Command = &Command{UUID: o.str("command_uuid"), State: o.str("state")}
	case KindControl:
		ev.Control = slowControl(o, typ)
	case KindOther:
		ev.What = what(typ, subtype)
	}
	ev.finish()
	return ev
}

func slowBlocks(content []byte) []Block {
	if isString(content) {
		return []Block{{Kind: BlockText, Text: readString(content)}}
	}
	var blocks []Block
	var list []json.RawMessage
	if json.Unmarshal(content, &list) != nil {
		return nil
	}
	for _, raw := range list {
		if o := readObject(raw); o != nil {
			blocks = append(blocks, slowBlock(o))
		}
	}
	return blocks
}

func slowBlock(o object) Block {
	switch typ := o.str("type"); typ {
	case "text":
		return Block{Kind: BlockText, Text: o.str("text")}
	case "thinking":
		return Block{Kind: BlockThinking, Text: o.str("thinking")}
	case "tool_use":
		return Block{Kind: BlockToolUse, ID: o.str("id"), Name: o.str("name"), Input: o.raw("input")}
	case "tool_result":
		b := Block{Kind: BlockToolResult, ID: o.str("tool_use_id"), Failed: o.flag("is_error")}
		b.Text, b.Lost = bound(slowResultText(o["content"]))
		return b
	default:
		return Block{Kind: BlockOther, Name: typ}
	}
}

// slowResultText is the text of a tool result: a string, or parts, of which
// those that are not text are only named.
func slowResultText(content []byte) string {
	if !isArray(content) {
		return readString(content)
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, raw := range parts {
		o := readObject(raw)
		switch typ := o.str("type"); {
		case o == nil:
		case typ == "text":
			texts = append(texts, o.str("text"))
		default:
			texts = append(texts, "["+typ+"]")
		}
	}
	return strings.Join(texts, "\n")
}

func slowDelta(o object) []Block {
	switch o.str("type") {
	case "text_delta":
		return []Block{{Kind: BlockText, Text: o.str("text")}}
	case "thinking_delta":
		return []Block{{Kind: BlockThinking, Text: o.str("thinking")}}
	}
	return nil
}

func slowUsage(raw []byte) *Usage {
	o := readObject(raw)
	if o == nil {
		return nil
	}
	return &Usage{Input: o.int("input_tokens"), Output: o.int("output_tokens"),
		CacheRead: o.int("cache_read_input_tokens"), CacheWrite: o.int("cache_creation_input_tokens")}
}

func slowAPIError(o object) *APIError {
	e := APIError{Status: o.int("api_error_status"), Type: o.str("api_error_type"), Code: o.str("api_error"),
		ResetsAt: int64(o.obj("api_error_params").obj("rate_limit_info").int("resetsAt"))}
	if e == (APIError{}) {
		return nil
	}
	return &e
}

func slowInit(o object) *Init {
	in := &Init{Cwd: o.str("cwd"), Model: o.str("model"), PermissionMode: o.str("permissionMode"),
		Version: o.str("claude_code_version"), KeySource: o.str("apiKeySource"), Tools: o.strs("tools")}
	for _, raw := range o.list("mcp_servers") {
		if s := readObject(raw); s != nil {
			in.Servers = append(in.Servers, Server{Name: s.str("name"), Status: s.str("status")})
		}
	}
	return in
}

func slowResult(o object) *Result {
	r := &Result{Subtype: o.str("subtype"), IsError: o.flag("is_error"), APIStatus: o.int("api_error_status"),
		APIType: o.str("api_error_type"), APICode: o.str("api_error"),
		Text: o.str("result"), Errors: o.strs("errors"), Turns: o.int("num_turns"),
		Duration: milliseconds(o.float("duration_ms")), CostUSD: o.float("total_cost_usd"),
		StopReason: o.str("stop_reason"), TerminalReason: o.str("terminal_reason")}
	for _, raw := range o.list("permission_denials") {
		if d := readObject(raw); d != nil {
			r.Denials = append(r.Denials, Denial{Tool: d.str("tool_name"), ID: d.str("tool_use_id"), Input: d.raw("tool_input")})
		}
	}
	for name, raw := range o.obj("modelUsage") {
		if m := readObject(raw); m != nil {
			r.Models = append(r.Models, ModelUsage{Model: name, CostUSD: m.float("costUSD"), ContextWindow: m.int("contextWindow"),
				Usage: Usage{Input: m.int("inputTokens"), Output: m.int("outputTokens"),
					CacheRead: m.int("cacheReadInputTokens"), CacheWrite: m.int("cacheCreationInputTokens")}})
		}
	}
	if since := o.obj("model_usage_since_last_result"); since != nil {
		r.SinceLastUSD = new(float64)
		for _, model := range slices.Sorted(maps.Keys(since)) { // a sum of fractions depends on their order
			*r.SinceLastUSD += since.obj(model).float("costUSD")
		}
	}
	return r
}

func slowTask(o object, subtype string) *Task {
	if subtype == "background_tasks_changed" {
		t := &Task{Phase: "background"}
		for _, raw := range o.list("tasks") {
			o := readObject(raw)
			t.Background = append(t.Background, Task{ID: o.str("task_id"), Type: o.str("task_type")})
		}
		return t
	}
	t := &Task{Phase: strings.TrimPrefix(subtype, "task_"), ID: o.str("task_id"), ToolUse: o.str("tool_use_id"),
		Type: o.str("task_type"), Foreground: string(o["is_backgrounded"]) == "false",
		Status: o.str("status"), Summary: o.str("summary")}
	if t.Status == "" {
		t.Status = o.obj("patch").str("status")
	}
	if t.Summary == "" {
		t.Summary = o.str("description")
	}
	return t
}

func slowControl(o object, typ string) *Control {
	c := &Control{Type: strings.TrimSuffix(strings.TrimPrefix(typ, "control_"), "_request"), RequestID: o.str("request_id")}
	switch c.Type {
	case "request":
		c.Subtype = o.obj("request").str("subtype")
	case "response":
		r := o.obj("response")
		c.RequestID, c.Subtype, c.Error = r.str("request_id"), r.str("subtype"), r.str("error")
		c.OK = c.Subtype == "success"
	}
	return c
}
