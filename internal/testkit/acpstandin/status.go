package acpstandin

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// fits reports whether an entry of Personality.Errors applies to this answer from the
// service.
func fits(e Error, code int, rest string) bool {
	if e.As == "usage" && !strings.HasPrefix(rest, "usage") {
		return false
	}
	return len(e.Statuses) == 0 || slices.Contains(e.Statuses, code)
}

// failure returns the error that ends the turn in the way that e specifies.
func (t *turn) failure(e Error, code int, rest string) error {
	if e.As == "text" && strings.HasPrefix(rest, "retry-after ") {
		e.Silent = false // copilot does not retry if the wait is long
	}
	if e.Silent && !t.wait(t.silence(rest)) {
		if t.a.is.CancelEnds {
			return &ended{stop: "end_turn"}
		}
		return errCancelled
	}
	if t.a.is.ZeroUsed {
		t.a.update(t.s, map[string]any{"sessionUpdate": "usage_update", "used": 0, "size": contextSize})
	}
	switch e.As {
	case "login":
		return &rpcError{Code: -32000, Message: "Authentication required"}
	case "usage":
		const text = "You’ve hit your usage limit. Upgrade to Pro or try again at 3:46 AM."
		t.broken(text)
		return &rpcError{Code: -32603, Message: "Internal error", Data: map[string]any{"message": text, "codexErrorInfo": "usageLimitExceeded"}}
	case "system":
		t.broken(systemText(code))
		return &ended{stop: "end_turn", noUsage: true}
	case "text":
		text := fmt.Sprintf("Error: %d scripted status", code)
		if e.Silent {
			t.chunk("agent_message_chunk", "Info: Request failed due to a transient API error. Retrying...")
			text = fmt.Sprintf("Error: Failed to get response from the AI model; retried 5 times (total retry wait time: 5.00 seconds) Last error: %d scripted status", code)
		}
		t.chunk("agent_message_chunk", text)
		return &ended{stop: "end_turn", noUsage: true}
	case "code":
		return &rpcError{Code: code, Message: detail(code)}
	}
	switch t.a.is.IDs {
	case "ses":
		return &rpcError{Code: -32603, Message: "Internal error: scripted status", Data: map[string]any{"service": "session", "errorName": "APIError"}}
	case "cli":
		return &rpcError{Code: -32603, Message: "Internal error: scripted status", Data: map[string]any{"message": "scripted status"}}
	}
	return &rpcError{Code: -32603, Message: "Internal error", Data: map[string]any{"details": "scripted status", "statusCode": code}}
}

// silence returns how long the client retries without output.
func (t *turn) silence(rest string) time.Duration {
	if seconds, ok := strings.CutPrefix(rest, "retry-after "); ok {
		return duration(seconds + "s")
	}
	return time.Duration(t.a.is.Silence) * time.Millisecond
}

// broken reports an error as codex does, with a message and its thread status.
func (t *turn) broken(text string) {
	t.a.update(t.s, map[string]any{"sessionUpdate": "session_info_update",
		"_meta": map[string]any{"codex": map[string]any{"threadStatus": map[string]any{"type": "systemError"}}}})
	t.chunk("agent_message_chunk", text+"\n\n")
}

// systemText returns the text that codex shows for an answer from the service.
func systemText(code int) string {
	switch code {
	case http.StatusInternalServerError:
		return "We’re currently experiencing high demand, which may cause temporary errors."
	case http.StatusTooManyRequests:
		return "exceeded retry limit, last status: 429 Too Many Requests"
	case http.StatusBadRequest:
		return detail(code)
	}
	return fmt.Sprintf("unexpected status %d %s: scripted status, url: http://127.0.0.1/v1/responses", code, http.StatusText(code))
}
