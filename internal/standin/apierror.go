package standin

import (
	"fmt"
	"time"
)

// apiError plays an error of the Messages API, without the waiting.
func (t *turn) apiError(status int, rest string) error {
	e := errorText(status, "Internal server error")
	if e.again && rest == "" { // a retry-after is taken for a long one, after which nothing is tried again
		for n := range t.c.number("CLAUDE_CODE_MAX_RETRIES", 10) {
			t.c.retry(n+1, status, e.retry)
		}
	}
	return &failure{text: e.text, status: status, kind: e.kind}
}

// usageLimit plays the usage limit of a subscription, which is told with its reset
// and not tried again.
func (t *turn) usageLimit(reset time.Time) error {
	t.c.out.line(map[string]any{
		"type": "rate_limit_event", "session_id": t.c.sess.id, "uuid": newUUID(),
		"rate_limit_info": map[string]any{"status": "rejected", "resetsAt": reset.Unix(), "rateLimitType": "five_hour", "isUsingOverage": false},
	})
	return &failure{text: "You've hit your session limit · resets " + reset.UTC().Format("3:04pm") + " (UTC)", status: 429, kind: "rate_limit"}
}

// retry prints the line before another try.
func (c *client) retry(attempt, status int, kind string) {
	c.out.line(&systemLine{
		Type: "system", Subtype: "api_retry", Attempt: attempt, MaxRetries: c.number("CLAUDE_CODE_MAX_RETRIES", 10),
		RetryDelayMS: retryDelay(attempt), ErrorStatus: new(apiStatus(status)), Error: kind, SessionID: c.sess.id, UUID: newUUID(),
	})
}

// retryDelay is about what the real program waits, in milliseconds.
func retryDelay(attempt int) float64 { return min(500*float64(int(1)<<(attempt-1)), 32000) + 0.5 }

// errorText is how the real program words an error that the API sent with
// message.
func errorText(status int, message string) apiErrorText {
	if e, ok := apiErrors[status]; ok {
		return e
	}
	e := apiErrorText{kind: "server_error", retry: "server_error", text: fmt.Sprintf("API Error: %d %s", status, message), again: status >= 500}
	if status == 400 {
		e.kind, e.retry = "invalid_request", "invalid_request"
	}
	return e
}

// apiErrorText is how the real program words an error: in the result, on the
// assistant line, and on the lines before another try.
type apiErrorText struct {
	kind, retry, text string
	again             bool
}

var apiErrors = map[int]apiErrorText{
	401: {"authentication_failed", "authentication_failed", "Invalid API key · Fix external API key", true},
	403: {"authentication_failed", "authentication_failed", "Failed to authenticate. API Error: 403 forbidden", false},
	404: {"model_not_found", "model_not_found", "There's an issue with the selected model. It may not exist or you may not have access to it. Run --model to pick a different model.", false},
	429: {"rate_limit", "rate_limit", "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.", true},
	500: {"server_error", "server_error", "API Error: 500 Internal server error", true},
	529: {"server_error", "overloaded", "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.", true},
}
