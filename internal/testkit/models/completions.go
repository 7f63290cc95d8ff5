package models

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// completions is the format of the Chat Completions API that opencode, copilot and cline
// use.
type completions struct{}

func (completions) read(_ *http.Request, body []byte) (*conversation, bool, error) {
	var in struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role    string
			Content json.RawMessage
			Calls   []json.RawMessage `json:"tool_calls"`
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	c := &conversation{model: in.Model}
	for _, m := range in.Messages {
		switch m.Role {
		case "user":
			c.add(message{from: user, text: texts(m.Content)})
		case "assistant":
			c.add(message{from: assistant, text: texts(m.Content), calls: len(m.Calls)})
		case "tool":
			c.add(message{from: result, results: 1})
		}
	}
	for _, t := range in.Tools {
		c.tools = append(c.tools, offer{name: t.Function.Name})
	}
	return c, in.Stream, nil
}

func (completions) refuse(w http.ResponseWriter, r *refusal) {
	kind := "scripted"
	if r.limit {
		kind = "insufficient_quota"
	}
	fail(w, r, object{"error": object{"type": kind, "code": kind, "message": r.text}})
}

func (completions) answer(w http.ResponseWriter, c *conversation, n int, stream bool) answer {
	return &completion{events: events{w: w}, whole: !stream, n: n, head: object{
		"id": fmt.Sprintf("chatcmpl-%d", n), "created": 1700000000, "model": c.model,
	}}
}

// A completion is an answer in the format of the Chat Completions API, sent in pieces or
// as a whole.
type completion struct {
	events
	whole bool
	n     int
	head  object
	text  string
	calls []any
}

func (a *completion) chunk(delta object, reason any, more object) {
	chunk := object{"object": "chat.completion.chunk", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": reason}}}
	for _, from := range []object{a.head, more} {
		for key, value := range from {
			chunk[key] = value
		}
	}
	a.send("", chunk)
}

func (a *completion) say(text string) {
	a.text += text
	if !a.whole {
		a.chunk(object{"role": "assistant", "content": text}, nil, nil)
	}
}

func (a *completion) call(c toolCall) {
	a.calls = append(a.calls, object{"index": 0, "id": fmt.Sprintf("call_%d", a.n), "type": "function",
		"function": object{"name": c.name, "arguments": jsonText(c.input)}})
	if !a.whole {
		a.chunk(object{"role": "assistant", "content": nil, "tool_calls": a.calls}, nil, nil)
	}
}

func (a *completion) end(u usage) {
	reason := "stop"
	if len(a.calls) > 0 {
		reason = "tool_calls"
	}
	tokens := object{"usage": object{"prompt_tokens": u.in, "completion_tokens": u.out, "total_tokens": u.in + u.out}}
	if !a.whole {
		a.chunk(object{}, reason, nil)
		a.chunk(nil, nil, object{"choices": []any{}, "usage": tokens["usage"]})
		a.send("", "[DONE]")
		return
	}
	body := object{"object": "chat.completion", "usage": tokens["usage"], "choices": []any{object{
		"index": 0, "finish_reason": reason,
		"message": object{"role": "assistant", "content": a.text, "tool_calls": a.calls},
	}}}
	for key, value := range a.head {
		body[key] = value
	}
	writeJSON(a.w, http.StatusOK, body)
}
