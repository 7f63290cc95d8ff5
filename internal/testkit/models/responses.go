package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// responses is the format of the Responses API that codex uses.
type responses struct{}

func (responses) read(_ *http.Request, body []byte) (*conversation, bool, error) {
	var in struct {
		Model  string
		Stream bool
		Input  []struct {
			Type, Role string
			Content    json.RawMessage
		}
		Tools []struct {
			Type, Name string
			Tools      []struct{ Type, Name string }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	c := &conversation{model: in.Model}
	for _, item := range in.Input {
		switch item.Type {
		case "", "message":
			switch item.Role {
			case "user":
				c.add(message{from: user, text: texts(item.Content)})
			case "assistant":
				c.add(message{from: assistant, text: texts(item.Content)})
			}
		case "function_call", "custom_tool_call":
			c.add(message{from: assistant, calls: 1})
		case "function_call_output", "custom_tool_call_output":
			c.add(message{from: result, results: 1})
		}
	}
	for _, t := range in.Tools {
		for _, inner := range t.Tools {
			c.tools = append(c.tools, offer{name: inner.Name, namespace: t.Name})
		}
		if t.Name != "" && len(t.Tools) == 0 {
			c.tools = append(c.tools, offer{name: t.Name, free: t.Type == "custom"})
		}
	}
	return c, in.Stream, nil
}

func (responses) refuse(w http.ResponseWriter, r *refusal) {
	if r.limit {
		fail(w, r, object{"error": object{
			"type": "usage_limit_reached", "message": r.text, "plan_type": "plus",
			"resets_at": time.Now().Add(time.Duration(r.after) * time.Second).Unix(), "resets_in_seconds": r.after,
		}})
		return
	}
	fail(w, r, object{"error": object{"type": "scripted", "message": r.text}})
}

func (responses) answer(w http.ResponseWriter, c *conversation, n int, stream bool) answer {
	return &response{events: events{w: w}, id: fmt.Sprintf("resp_%d", n), n: n}
}

// A response is an answer in the format of the Responses API, which is always streamed
// because codex requires it.
type response struct {
	events
	id   string
	n    int
	text string
	open bool // the text item has begun
	out  []any
}

func (a *response) begin() {
	if !a.begun {
		a.send("response.created", object{"type": "response.created", "response": object{"id": a.id}})
	}
}

func (a *response) say(text string) {
	a.begin()
	id := "msg_" + a.id
	if !a.open {
		a.open = true
		a.send("response.output_item.added", object{"type": "response.output_item.added", "output_index": 0,
			"item": object{"type": "message", "role": "assistant", "id": id, "content": []any{}}})
	}
	a.text += text
	a.send("response.output_text.delta", object{"type": "response.output_text.delta", "item_id": id, "output_index": 0, "content_index": 0, "delta": text})
}

func (a *response) item(item object) {
	a.send("response.output_item.done", object{"type": "response.output_item.done", "output_index": len(a.out), "item": item})
	a.out = append(a.out, item)
}

// close ends the text item.
func (a *response) close() {
	if a.open {
		a.item(object{"type": "message", "role": "assistant", "id": "msg_" + a.id,
			"content": []any{object{"type": "output_text", "text": a.text}}})
		a.open, a.text = false, ""
	}
}

func (a *response) call(c toolCall) {
	a.begin()
	a.close()
	item := object{"type": "function_call", "call_id": fmt.Sprintf("call_%d", a.n), "name": c.name}
	if c.namespace != "" {
		item["namespace"] = c.namespace
	}
	if text, ok := c.input.(string); ok && c.free {
		item["type"], item["input"] = "custom_tool_call", text
	} else {
		item["arguments"] = jsonText(c.input)
	}
	a.item(item)
}

func (a *response) end(u usage) {
	a.begin()
	a.close()
	a.send("response.completed", object{"type": "response.completed", "response": object{
		"id": a.id, "output": a.out, "usage": object{
			"input_tokens": u.in, "input_tokens_details": object{"cached_tokens": 0},
			"output_tokens": u.out, "output_tokens_details": object{"reasoning_tokens": 0},
			"total_tokens": u.in + u.out,
		},
	}})
}

func jsonText(v any) string {
	buf, err := json.Marshal(v)
	if err != nil {
		panic(err) // cannot fail, because the script's input has been checked
	}
	return string(buf)
}

// texts returns the text of a content field, which is a string or a list of parts. It
// joins parts with newlines.
func texts(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	for i, p := range parts {
		if i > 0 {
			text += "\n"
		}
		text += p.Text
	}
	return text
}
