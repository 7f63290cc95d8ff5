package standin

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
)

// tools lists the tools in the init line.
var tools = []string{"Task", "Bash", "Edit", "NotebookEdit", "Read", "WebFetch", "WebSearch", "Write"}

// printInit prints the init line at the beginning of a turn.
func (c *client) printInit() {
	offered := []string{}
	for _, tool := range slices.Concat(tools, strings.Fields(c.getenv("STANDIN_TOOLS"))) {
		if !c.disallowed(tool) {
			offered = append(offered, tool)
		}
	}
	source := "none"
	if c.getenv("ANTHROPIC_API_KEY") != "" {
		source = "ANTHROPIC_API_KEY"
	}
	var more *initMore
	plugins := []any{}
	if !c.release.old() {
		plugins = append(plugins, map[string]string{"name": "cc-plugin-agents-md", "path": "builtin", "source": "cc-plugin-agents-md@builtin"})
		more = &initMore{
			Terminal: []string{}, Capabilities: []string{"interrupt_receipt_v1", "msg_lifecycle_v1"}, Original: c.cwd,
			Additional: []string{}, NotFast: notFast, View: "default",
		}
	}
	c.out.line(&initLine{
		Type: "system", Subtype: "init", Cwd: c.cwd, SessionID: c.sess.id, Tools: offered, Servers: c.servers(2),
		Model: c.model, PermissionMode: c.o.mode, SlashCommands: []string{"clear", "compact"}, APIKeySource: source,
		Version: string(c.release), OutputStyle: "default", Agents: []string{"general-purpose"}, Skills: []string{},
		Plugins: plugins, NoAnalytics: true, NoFeedback: true, UUID: newUUID(),
		MemoryPaths: map[string]string{"auto": filepath.Join(sessionDir(c.getenv, c.cwd), "memory") + "/"}, FastMode: "off",
		initMore: more,
	})
}

// replay acknowledges a prompt. at is empty for a prompt that has been merged into another
// or is already known.
func (c *client) replay(p prompt, at string) {
	if !c.o.replay || c.getenv("STANDIN_NOREPLAY") != "" {
		return
	}
	c.out.line(&userLine{
		Type: "user", Message: message{Role: "user", Content: p.content}, SessionID: c.sess.id,
		UUID: p.uuid, Timestamp: at, IsReplay: new(true),
	})
}

// userBlocks prints a user line that the program itself wrote. result and meta are the
// tool_use_result and tool_result_meta that accompany a tool's answer, or nil.
func (c *client) userBlocks(blocks []block, result any, meta []toolMeta) {
	c.out.line(&userLine{
		Type: "user", Message: message{Role: "user", Content: encode(blocks)}, SessionID: c.sess.id,
		UUID: newUUID(), Timestamp: timestamp(), ToolResult: result, ToolMeta: meta,
	})
}

// synthetic prints text that was not written by a model. f is the error that it reports,
// or nil.
func (c *client) synthetic(text string, f *failure) {
	kind, request := "", ""
	var more *apiErrorMore
	if f != nil && f.kind != "" {
		kind, request = f.kind, newID("req_")
		if !c.release.old() {
			more = &apiErrorMore{IsError: true, Status: f.status, Type: f.sort, Code: f.code}
			if f.rate != nil {
				more.Params = &apiErrorParams{f.rate}
			}
		}
	}
	c.out.line(&assistantLine{
		Type: "assistant", SessionID: c.sess.id, UUID: newUUID(), Error: kind, RequestID: request, Timestamp: c.stamp(), apiErrorMore: more,
		Message: &syntheticMessage{
			ID: newUUID(), Model: "<synthetic>", Role: "assistant", StopReason: "stop_sequence", Type: "message",
			Content: []textBlock{{Type: "text", Text: text}}, Usage: c.syntheticUsage(), syntheticMessageMore: c.messageMore(),
		},
	})
}

// status prints a status line; an empty status is printed as null.
func (c *client) status(status, end, problem string) {
	line := &statusLine{
		Type: "system", Subtype: "status", CompactEnd: end, CompactError: problem, SessionID: c.sess.id, UUID: newUUID(),
	}
	if status != "" {
		line.Status = &status
	}
	c.out.line(line)
}

// The following functions print the events of --include-partial-messages. They are the
// API's events, one per line.

func (c *client) printEvent(event any) {
	c.out.line(&streamLine{Type: "stream_event", Event: event, SessionID: c.sess.id, UUID: newUUID()})
}

func (c *client) printStart(id string, u tokens) {
	c.status("requesting", "", "")
	c.printEvent(map[string]any{"type": "message_start", "message": map[string]any{
		"id": id, "type": "message", "role": "assistant", "model": baseModel(c.model), "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": u,
	}})
}

func (c *client) printPartial(b block, index int) {
	empty, field, piece := map[string]any{"type": b.Type}, "text", b.Text
	kind := "text_delta"
	switch b.Type {
	case "text":
		empty["text"] = ""
	case "thinking":
		empty["thinking"], empty["signature"] = "", ""
		field, piece, kind = "thinking", b.Thinking, "thinking_delta"
	case "tool_use":
		empty["id"], empty["name"], empty["input"] = b.ID, b.Name, json.RawMessage("{}")
		field, piece, kind = "partial_json", string(b.Input), "input_json_delta"
	}
	c.printEvent(map[string]any{"type": "content_block_start", "index": index, "content_block": empty})
	c.printEvent(map[string]any{"type": "content_block_delta", "index": index, "delta": map[string]any{"type": kind, field: piece}})
}

func (c *client) printStop(stop string, u tokens) {
	c.printEvent(map[string]any{"type": "message_delta", "usage": u, "delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}})
	c.printEvent(map[string]any{"type": "message_stop"})
}

// modelName converts a short name for --model to the full name.
func (r release) modelName(name string) string {
	if !r.old() {
		switch name {
		case "", "default", "opus":
			return "claude-opus-5-5"
		case "sonnet", "haiku":
			return "claude-" + name + "-5-5"
		case "fable":
			return "claude-fable-5-2"
		}
		return name
	}
	switch name {
	case "", "default":
		return "claude-opus-4-8[1m]"
	case "opus":
		return "claude-opus-4-8"
	case "sonnet":
		return "claude-sonnet-5"
	case "haiku":
		return "claude-haiku-4-5-20251001"
	case "fable":
		return "claude-fable-5"
	}
	return name
}

// baseModel returns the model's name for the API, without the suffix for the long
// context.
func baseModel(name string) string { return strings.TrimSuffix(name, "[1m]") }

// modelWindow returns the size of the model's window in tokens.
func modelWindow(name string) int {
	if strings.HasSuffix(name, "[1m]") || ofTheFifth(name) {
		return 1000000
	}
	return 200000
}

// ofTheFifth reports whether a short name in the newer version refers to this model.
func ofTheFifth(model string) bool {
	return strings.HasSuffix(model, "-5-5") || strings.HasSuffix(model, "-5-2")
}

// spend adds to the usage of the session and to the usage since the last result.
func (c *client) spend(model string, u tokens, usd float64) {
	for _, used := range []map[string]*modelUsage{c.models, c.since} {
		m := used[model]
		if m == nil {
			m = c.newUsage(model)
			used[model] = m
		}
		m.Input += u.Input
		m.Output += u.Output
		m.CacheCreation += u.CacheCreation
		m.CacheRead += u.CacheRead
		m.CostUSD += usd
	}
}

// newUsage returns an empty modelUsage entry for model.
func (c *client) newUsage(model string) *modelUsage {
	m := &modelUsage{Window: modelWindow(model), MaxOutput: 32000}
	switch {
	case ofTheFifth(model):
		m.MaxOutput = 128000
	case strings.Contains(model, "opus"):
		m.MaxOutput = 64000
	}
	if !c.release.old() {
		m.modelMore = &modelMore{Canonical: baseModel(model), Provider: "firstParty", Basis: "list"}
	}
	return m
}

// price returns the price of u in US dollars, based on the list prices per million tokens
// in the imitated version of the real program.
func price(model string, u tokens) float64 {
	in, out := 3.0, 15.0
	switch {
	case strings.Contains(model, "opus"):
		in, out = 5, 25
	case strings.Contains(model, "haiku"):
		in, out = 1, 5
	}
	return (float64(u.Input)*in + float64(u.CacheRead)*in/10 + float64(u.CacheCreation)*in*1.25 + float64(u.Output)*out) / 1e6
}
