package streamjson

import (
	"slices"
	"strings"
)

// decode decodes a line without its newline into p.ev.
func (p *parser) decode(line []byte) {
	p.members, p.blocks, p.text = small(p.members, 1<<10), small(p.blocks, 1<<10), small(p.text, 64<<10)
	p.ev = Event{Kind: KindBad, Raw: line}
	o := p.object(line)
	if !o.ok {
		return
	}
	ev := &p.ev
	typ, subtype := o.str("type"), o.str("subtype")
	ev.Kind = kindOf(typ, subtype)
	ev.Session = o.str("session_id")
	ev.UUID = o.str("uuid")
	ev.Parent = o.str("parent_tool_use_id")
	switch ev.Kind {
	case KindAssistant:
		m := o.obj("message")
		ev.Error = o.str("error")
		ev.APIError = apiError(o)
		ev.Model, ev.MessageID = m.str("model"), m.str("id")
		ev.Blocks = p.content(m.get("content"))
		ev.Usage = p.tokens(m.obj("usage"))
	case KindUser:
		if o.flag("isReplay") {
			ev.Kind = KindReplay
		}
		ev.Synthetic = o.flag("isSynthetic")
		ev.Blocks = p.content(o.obj("message").get("content"))
	case KindPartial:
		ev.Blocks = p.delta(o.obj("event").obj("delta"))
	case KindResult:
		ev.Usage = p.tokens(o.obj("usage"))
		ev.Result = result(o)
	case KindInit:
		ev.Init = initOf(o)
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
		h.Output, h.Lost = p.bounded(o.get("output"))
		ev.Hook = h
	case KindTask:
		ev.Task = task(o, subtype)
	case KindCommand:
		ev.Command = &Command{UUID: o.str("command_uuid"), State: o.str("state")}
	case KindControl:
		ev.Control = control(o, typ)
	case KindOther:
		ev.What = what(typ, subtype)
	}
	ev.finish()
}

// small empties a buffer so that it does not keep a line in memory. If a long line has
// made the buffer's capacity exceed the limit most, small discards the buffer.
func small[T any](buf []T, most int) []T {
	if cap(buf) > most {
		return nil
	}
	clear(buf)
	return buf[:0]
}

// content reads a message's content, which is either a string or a list of blocks.
func (p *parser) content(raw []byte) []Block {
	if isString(raw) {
		p.blocks = append(p.blocks, Block{Kind: BlockText, Text: p.str(raw)})
	}
	list, _ := p.list(raw, '[')
	for _, m := range list {
		if o := p.object(m.value); o.ok {
			p.blocks = append(p.blocks, p.block(o))
		}
	}
	return clip(p.blocks)
}

// clip returns nil for an empty slice, and otherwise limits the capacity, so that an
// append makes a copy.
func clip[T any](s []T) []T {
	if len(s) == 0 {
		return nil
	}
	return slices.Clip(s)
}

func (p *parser) block(o object) Block {
	switch typ := o.str("type"); typ {
	case "text":
		return Block{Kind: BlockText, Text: o.str("text")}
	case "thinking":
		return Block{Kind: BlockThinking, Text: o.str("thinking")}
	case "tool_use":
		return Block{Kind: BlockToolUse, ID: o.str("id"), Name: o.str("name"), Input: o.raw("input")}
	case "tool_result":
		b := Block{Kind: BlockToolResult, ID: o.str("tool_use_id"), Failed: o.flag("is_error")}
		b.Text, b.Lost = p.toolResult(o.get("content"))
		return b
	default:
		return Block{Kind: BlockOther, Name: typ}
	}
}

// toolResult reads the content of a tool result, which is either a string or a list of
// parts. It replaces a part that is not text with the part's type in brackets.
func (p *parser) toolResult(raw []byte) (kept string, lost int64) {
	parts, ok := p.list(raw, '[')
	if !ok {
		return p.bounded(raw)
	}
	var texts []string
	for _, part := range parts {
		o := p.object(part.value)
		switch typ := o.str("type"); {
		case !o.ok:
		case typ != "text":
			texts = append(texts, "["+typ+"]")
		case len(parts) == 1:
			return p.bounded(o.get("text"))
		default:
			texts = append(texts, o.str("text"))
		}
	}
	text := strings.Join(texts, "\n")
	return bound(len(text), func(from, to int) []byte { return []byte(text[from:to]) })
}

func (p *parser) delta(o object) []Block {
	switch o.str("type") {
	case "text_delta":
		p.blocks = append(p.blocks, Block{Kind: BlockText, Text: o.str("text")})
	case "thinking_delta":
		p.blocks = append(p.blocks, Block{Kind: BlockThinking, Text: o.str("thinking")})
	}
	return clip(p.blocks)
}

func (p *parser) tokens(o object) *Usage {
	if !o.ok {
		return nil
	}
	p.usage = Usage{Input: o.int("input_tokens"), Output: o.int("output_tokens"),
		CacheRead: o.int("cache_read_input_tokens"), CacheWrite: o.int("cache_creation_input_tokens")}
	return &p.usage
}

func apiError(o object) *APIError {
	e := APIError{Status: o.int("api_error_status"), Type: o.str("api_error_type"), Code: o.str("api_error"),
		ResetsAt: int64(o.obj("api_error_params").obj("rate_limit_info").int("resetsAt"))}
	if e == (APIError{}) {
		return nil
	}
	return clone(&e)
}

func initOf(o object) *Init {
	in := &Init{Cwd: o.str("cwd"), Model: o.str("model"), PermissionMode: o.str("permissionMode"),
		Version: o.str("claude_code_version"), KeySource: o.str("apiKeySource"), Tools: o.strs("tools")}
	for _, m := range o.list("mcp_servers") {
		if s := o.p.object(m.value); s.ok {
			in.Servers = append(in.Servers, Server{Name: s.str("name"), Status: s.str("status")})
		}
	}
	return in
}

func result(o object) *Result {
	r := &Result{Subtype: o.str("subtype"), IsError: o.flag("is_error"), APIStatus: o.int("api_error_status"),
		APIType: o.str("api_error_type"), APICode: o.str("api_error"),
		Text: o.str("result"), Errors: o.strs("errors"), Turns: o.int("num_turns"),
		Duration: milliseconds(o.float("duration_ms")), StopReason: o.str("stop_reason"), TerminalReason: o.str("terminal_reason")}
	r.IsError = r.IsError || strings.HasPrefix(r.Subtype, "error")
	total, known := o.usd("total_cost_usd")
	r.CostUSD, r.CostUnknown = total, !known
	for _, m := range o.list("permission_denials") {
		if d := o.p.object(m.value); d.ok {
			r.Denials = append(r.Denials, Denial{Tool: d.str("tool_name"), ID: d.str("tool_use_id"), Input: d.raw("tool_input")})
		}
	}
	for _, model := range o.obj("modelUsage").unique() {
		if m := o.p.object(model.value); m.ok {
			r.Models = append(r.Models, ModelUsage{Model: string(model.key), CostUSD: m.float("costUSD"), ContextWindow: m.int("contextWindow"),
				Usage: Usage{Input: m.int("inputTokens"), Output: m.int("outputTokens"),
					CacheRead: m.int("cacheReadInputTokens"), CacheWrite: m.int("cacheCreationInputTokens")}})
		}
	}
	r.SinceLastUSD = sinceLast(o.obj("model_usage_since_last_result"))
	return r
}

// sinceLast returns the sum of the costs of all models, or nil if there is none or one of
// them is not known.
func sinceLast(models object) *float64 {
	if !models.ok {
		return nil
	}
	sum := 0.0
	for _, model := range models.unique() { // in a fixed order, because the order can change a floating-point sum
		usd, known := models.p.object(model.value).usd("costUSD")
		if !known {
			return nil
		}
		sum += usd
	}
	return &sum
}

func task(o object, subtype string) *Task {
	if subtype == "background_tasks_changed" {
		t := &Task{Phase: "background"}
		for _, m := range o.list("tasks") {
			o := o.p.object(m.value)
			t.Background = append(t.Background, Task{ID: o.str("task_id"), Type: o.str("task_type")})
		}
		return t
	}
	t := &Task{Phase: strings.TrimPrefix(subtype, "task_"), ID: o.str("task_id"), ToolUse: o.str("tool_use_id"),
		Type: o.str("task_type"), Foreground: string(o.get("is_backgrounded")) == "false",
		Status: o.str("status"), Summary: o.str("summary")}
	if t.Status == "" {
		t.Status = o.obj("patch").str("status")
	}
	if t.Summary == "" {
		t.Summary = o.str("description")
	}
	return t
}

func control(o object, typ string) *Control {
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
