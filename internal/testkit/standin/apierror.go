package standin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"
)

// apiError plays a Messages API error without the waits between retries.
func (t *turn) apiError(status int, rest string) error {
	c := t.c
	e := c.errorText(status, statusText(status))
	if e.again && rest == "" { // every retry-after counts as too long, so there is no retry
		for n := range c.number("CLAUDE_CODE_MAX_RETRIES", 10) {
			c.retry(n+1, status, e.retry)
		}
	}
	return e.failure(status)
}

// statusText returns the API's error message for a status.
func statusText(status int) string {
	switch status {
	case http.StatusInternalServerError:
		return "Internal server error"
	case 529:
		return "Overloaded"
	}
	return http.StatusText(status)
}

// usageLimit plays the usage limit of a subscription, which is an error that names the
// reset time and is not retried.
func (t *turn) usageLimit(reset time.Time) error {
	c := t.c
	rate := &rateLimit{Status: "rejected", ResetsAt: reset.Unix(), Type: "five_hour"}
	c.out.line(map[string]any{"type": "rate_limit_event", "session_id": c.sess.id, "uuid": newUUID(), "rate_limit_info": rate})
	f := &failure{status: http.StatusTooManyRequests, kind: "rate_limit", sort: "rate_limit_error", code: "usage_limit_reached", rate: rate}
	window := "5-hour"
	if c.release.old() {
		window = "session"
	}
	f.text = "You've hit your " + window + " limit · resets " + reset.UTC().Format("3:04pm") + " (UTC)"
	return f
}

// retry prints the line that announces a retry.
func (c *client) retry(attempt, status int, kind string) {
	c.out.line(&systemLine{
		Type: "system", Subtype: "api_retry", Attempt: attempt, MaxRetries: c.number("CLAUDE_CODE_MAX_RETRIES", 10),
		RetryDelayMS: retryDelay(attempt), ErrorStatus: new(apiStatus(status)), Error: kind, SessionID: c.sess.id, UUID: newUUID(),
	})
}

// retryDelay returns the real program's approximate delay before a retry, in
// milliseconds.
func retryDelay(attempt int) float64 { return min(500*float64(int(1)<<(attempt-1)), 32000) + 0.5 }

// apiErrorText contains what the real program prints for an error: in the result, on the
// assistant line, and on the lines that announce retries.
type apiErrorText struct {
	kind, retry, text string
	again             bool
	code              string // api_error in the newer version
}

func (e apiErrorText) failure(status int) *failure {
	return &failure{text: e.text, status: status, kind: e.kind, sort: errorTypes[status], code: e.code}
}

// errorTypes maps each HTTP status to the API's error type.
var errorTypes = map[int]string{
	400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
	408: "api_error", 409: "api_error", 413: "request_too_large", 429: "rate_limit_error",
	500: "api_error", 502: "api_error", 503: "api_error", 504: "timeout_error", 529: "overloaded_error",
}

// errorText returns the real program's text for an API error with this message.
func (c *client) errorText(status int, message string) apiErrorText {
	switch status {
	case http.StatusUnauthorized:
		return apiErrorText{kind: "authentication_failed", retry: "authentication_failed", text: "Invalid API key · Fix external API key", again: true}
	case http.StatusForbidden:
		return apiErrorText{kind: "authentication_failed", text: "Failed to authenticate. API Error: 403 " + message}
	case http.StatusNotFound:
		return apiErrorText{kind: "model_not_found", text: "There's an issue with the selected model (" + baseModel(c.model) +
			"). It may not exist or you may not have access to it. Run --model to pick a different model."}
	case http.StatusTooManyRequests:
		return apiErrorText{kind: "rate_limit", retry: "rate_limit", again: true,
			text: "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later."}
	}
	e := apiErrorText{kind: "unknown", text: fmt.Sprintf("API Error: %d %s", status, message)}
	if status >= 500 {
		e.kind, e.retry, e.again = "server_error", "server_error", true
		e.text += ". This is a server-side issue, usually temporary — try again in a moment."
		if base, err := url.Parse(c.getenv("ANTHROPIC_BASE_URL")); err == nil && base.Host != "" {
			e.text += " If it persists, check your inference gateway (" + base.Host + ")."
		}
	}
	if status == 529 {
		e.retry = "overloaded"
	}
	return e
}

// noAnswer returns the real program's text for a missing answer.
func (c *client) noAnswer(err error) apiErrorText {
	e := apiErrorText{kind: "server_error", retry: "server_error", again: true}
	late := errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded)
	switch {
	case c.release.old() && late:
		e.text = "Request timed out"
	case c.release.old():
		e.text = "API Error: Unable to connect to API (" + err.Error() + ")"
	case late:
		e.text = fmt.Sprintf("Request timed out. If the API is slow to answer, or a proxy or gateway holds responses, set API_TIMEOUT_MS above %d.",
			c.number("API_TIMEOUT_MS", apiTimeout))
	case errors.Is(err, syscall.ECONNREFUSED):
		e.code, e.text = connectionFailed, "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"
	default:
		e.code, e.text = connectionFailed, "API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again."
	}
	return e
}

const connectionFailed = "connection_failed"

// apiTimeout is the real program's timeout for an answer, in milliseconds.
const apiTimeout = 600000
