package fakeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// message is a reply whose placeholders have all been replaced.
type message struct {
	id     string
	model  string
	blocks []filled
	stop   string
	usage  Usage
}

// filled is a content block in its final form. body is the complete block. A stream first
// sends start and then value in pieces, as deltas of type kind; each delta has its piece
// in field.
type filled struct {
	body, start        map[string]any
	kind, field, value string
	signature          string // signature of a thinking block, which a stream sends as an extra delta
}

// newMessage makes the message that answers the nth request with rep.
func newMessage(rep *Reply, q *query, n int) *message {
	m := &message{id: fmt.Sprintf("msg_fake_%06d", n), model: q.model, stop: rep.StopReason}
	content := rep.Content
	if rep.Text != "" {
		content = append([]Block{{Text: rep.Text}}, content...)
	}
	found := rep.Match.found(q)
	fill := strings.NewReplacer(
		"{{last_user}}", q.text, "{{match}}", found, "{{tool_result}}", strings.TrimSpace(q.result),
		"{{n}}", strconv.Itoa(n), "{{messages}}", strconv.Itoa(q.messages), "{{model}}", q.model,
	)
	size, usedTool := 0, false
	for i, b := range content {
		f := b.fill(fill, found, n, i)
		size += len(f.value)
		usedTool = usedTool || b.ToolUse != nil
		m.blocks = append(m.blocks, f)
	}
	if m.stop == "" {
		m.stop = "end_turn"
		if usedTool {
			m.stop = "tool_use"
		}
	}
	switch {
	case rep.Usage != nil:
		m.usage = *rep.Usage
	case rep.ContextTokens > 0:
		fresh := min(10, rep.ContextTokens)
		m.usage = Usage{InputTokens: fresh, CacheReadInputTokens: rep.ContextTokens - fresh, OutputTokens: max(1, guess(size))}
	default:
		m.usage = Usage{InputTokens: guess(len(q.raw)), OutputTokens: max(1, guess(size))}
	}
	return m
}

// guess estimates the number of tokens in n bytes.
func guess(n int) int { return n / 4 }

// fill fills in the block, which is the ith block of the answer to the nth request. found
// is the value of {{match}} for tool inputs.
func (b *Block) fill(text *strings.Replacer, found string, n, i int) filled {
	switch {
	case b.ToolUse != nil:
		id, input := b.ToolUse.ID, b.ToolUse.Input
		if id == "" {
			id = fmt.Sprintf("toolu_fake_%06d_%d", n, i)
		}
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		quoted, _ := json.Marshal(found) // a string can always be encoded
		input = bytes.ReplaceAll(input, []byte("{{match}}"), quoted[1:len(quoted)-1])
		return filled{
			body:  map[string]any{"type": "tool_use", "id": id, "name": b.ToolUse.Name, "input": input},
			start: map[string]any{"type": "tool_use", "id": id, "name": b.ToolUse.Name, "input": map[string]any{}},
			kind:  "input_json_delta", field: "partial_json", value: string(input),
		}
	case b.Thinking != "":
		signature := fmt.Sprintf("c2lnbmF0dXJl%06d", n)
		return filled{
			body:  map[string]any{"type": "thinking", "thinking": b.Thinking, "signature": signature},
			start: map[string]any{"type": "thinking", "thinking": "", "signature": ""},
			kind:  "thinking_delta", field: "thinking", value: b.Thinking, signature: signature,
		}
	case b.Redacted != "":
		return atOnce(map[string]any{"type": "redacted_thinking", "data": b.Redacted})
	case b.Raw != nil:
		return atOnce(b.Raw)
	case b.Repeat != nil:
		return textBlock(strings.Repeat(b.Repeat.Text, b.Repeat.Times))
	}
	return textBlock(text.Replace(b.Text))
}

// atOnce returns a block that a stream sends in one piece.
func atOnce(body map[string]any) filled { return filled{body: body, start: body} }

func textBlock(text string) filled {
	return filled{
		body:  map[string]any{"type": "text", "text": text},
		start: map[string]any{"type": "text", "text": ""},
		kind:  "text_delta", field: "text", value: text,
	}
}

// json returns the message as one object, for a request that does not ask for a stream.
func (m *message) json() map[string]any {
	content := make([]map[string]any, 0, len(m.blocks))
	for _, b := range m.blocks {
		content = append(content, b.body)
	}
	return map[string]any{
		"id": m.id, "type": "message", "role": "assistant", "model": m.model,
		"content": content, "stop_reason": m.stop, "stop_sequence": nil, "usage": m.usage,
	}
}
