package standin

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// misbehave plays the steps that a well-behaved program would not do. Those
// that end the process do not return.
func (t *turn) misbehave(ctx context.Context, s step) error {
	c := t.c
	switch s.verb {
	case "exit":
		c.end(s.n)
		c.stay()
	case "noresult":
		c.end(0)
		c.stay()
	case "die":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		c.stay()
	case "hang":
		c.deaf.Store(true)
		c.stay()
	case "spin":
		c.deaf.Store(true)
		for {
		}
	case "closeout":
		c.out.close()
		<-ctx.Done()
		return errInterrupted
	case "orphan":
		return t.orphan(s)
	case "rubbish":
		c.out.raw([]byte("npm WARN this line is not JSON {"))
	case "unknown":
		c.out.line(map[string]any{"type": "weather_report", "sky": "clear", "session_id": c.sess.id, "uuid": newUUID()})
	}
	return nil
}

// orphan leaves a grandchild behind that is in a session of its own, has no
// parent but init, and holds the standard output open.
func (t *turn) orphan(s step) error {
	cmd := exec.Command("/bin/sh", "-c", fmt.Sprintf("sleep %.3f &", s.d.Seconds()))
	cmd.Env = t.c.environ
	cmd.Stdout = t.c.out.w
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Run()
}

// apiError plays an error of the Messages API, without the waiting.
func (t *turn) apiError(status int, rest string) error {
	e := apiErrors[status]
	if e.kind == "" {
		e = apiErrorText{kind: "server_error", retry: "server_error", text: fmt.Sprintf("API Error: %d Internal server error", status), again: status >= 500}
	}
	if e.again && rest == "" { // a retry-after is taken for a long one, after which nothing is tried again
		for n := range t.c.number("CLAUDE_CODE_MAX_RETRIES", 10) {
			t.c.retry(n+1, status, e.retry)
		}
	}
	return &failure{text: e.text, status: status, kind: e.kind}
}

// retry prints the line before another try.
func (c *client) retry(attempt, status int, kind string) {
	c.out.line(&systemLine{
		Type: "system", Subtype: "api_retry", Attempt: attempt, MaxRetries: c.number("CLAUDE_CODE_MAX_RETRIES", 10),
		RetryDelayMS: retryDelay(attempt), ErrorStatus: status, Error: kind, SessionID: c.sess.id, UUID: newUUID(),
	})
}

// retryDelay is about what the real program waits, in milliseconds.
func retryDelay(attempt int) float64 { return min(500*float64(int(1)<<(attempt-1)), 32000) + 0.5 }

// apiErrorText is how the real program words an error: in the result, on the
// assistant line, and on the lines before another try.
type apiErrorText struct {
	kind, retry, text string
	again             bool
}

var apiErrors = map[int]apiErrorText{
	400: {"invalid_request", "invalid_request", "API Error: 400 invalid request", false},
	401: {"authentication_failed", "authentication_failed", "Invalid API key · Fix external API key", true},
	403: {"authentication_failed", "authentication_failed", "Failed to authenticate. API Error: 403 forbidden", false},
	404: {"model_not_found", "model_not_found", "There's an issue with the selected model. It may not exist or you may not have access to it. Run --model to pick a different model.", false},
	429: {"rate_limit", "rate_limit", "API Error: Request rejected (429) · This request would exceed your account's rate limit. Please try again later.", true},
	500: {"server_error", "server_error", "API Error: 500 Internal server error", true},
	529: {"server_error", "overloaded", "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment.", true},
}
