package models

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// gemini is the format of the Gemini API.
type gemini struct{}

func (gemini) read(r *http.Request, body []byte) (*conversation, bool, error) {
	var in struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text             string
				FunctionCall     json.RawMessage
				FunctionResponse json.RawMessage
			}
		}
		Tools []struct{ FunctionDeclarations []struct{ Name string } }
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, false, err
	}
	_, model, _ := strings.Cut(r.URL.Path, "/models/")
	model, verb, _ := strings.Cut(model, ":")
	c := &conversation{model: model}
	for _, content := range in.Contents {
		m := message{}
		for i, p := range content.Parts {
			if i > 0 {
				m.text += "\n"
			}
			m.text += p.Text
			if p.FunctionCall != nil {
				m.calls++
			}
			if p.FunctionResponse != nil {
				m.results++
			}
		}
		switch {
		case content.Role == "model":
			m.from = assistant
		case m.results > 0:
			m.from = result
		}
		c.add(m)
	}
	for _, t := range in.Tools {
		for _, f := range t.FunctionDeclarations {
			c.tools = append(c.tools, offer{name: f.Name})
		}
	}
	return c, verb == "streamGenerateContent", nil
}

func (gemini) refuse(w http.ResponseWriter, r *refusal) {
	word := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
		429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"}[r.status]
	e := object{"code": r.status, "message": r.text, "status": word}
	if r.limit {
		e["details"] = []any{
			object{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []any{object{
				"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
			}}},
			object{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": fmt.Sprintf("%ds", r.after)},
		}
	}
	fail(w, r, object{"error": e})
}

func (gemini) answer(w http.ResponseWriter, c *conversation, n int, stream bool) answer {
	return &generated{events: events{w: w}, whole: !stream, model: c.model}
}

// generated is an answer in the format of the Gemini API, sent in pieces or as a whole.
type generated struct {
	events
	whole bool
	model string
	parts []any
}

func (a *generated) chunk(parts []any, more object) object {
	choice := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	body := object{"candidates": []any{choice}, "modelVersion": a.model}
	for key, value := range more {
		if key == "finishReason" {
			choice[key] = value
		} else {
			body[key] = value
		}
	}
	return body
}

func (a *generated) part(p object) {
	if a.whole {
		a.parts = append(a.parts, p)
		return
	}
	a.send("", a.chunk([]any{p}, nil))
}

func (a *generated) say(text string) { a.part(object{"text": text}) }

func (a *generated) call(c toolCall) {
	a.part(object{"functionCall": object{"name": c.name, "args": c.input}})
}

func (a *generated) end(u usage) {
	more := object{"finishReason": "STOP", "usageMetadata": object{
		"promptTokenCount": u.in, "candidatesTokenCount": u.out, "totalTokenCount": u.in + u.out,
	}}
	if a.whole {
		writeJSON(a.w, http.StatusOK, a.chunk(a.parts, more))
		return
	}
	a.send("", a.chunk([]any{object{"text": ""}}, more))
}
