package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// apiRequest is the body of a Messages request, and apiReply is the answer.
type apiRequest struct {
	Model     string    `json:"model"`
	MaxTokens int       `json:"max_tokens"`
	System    string    `json:"system"`
	Messages  []message `json:"messages"`
	Tools     []apiTool `json:"tools,omitempty"`
}

type apiTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"input_schema"`
}

type apiReply struct {
	ID         string  `json:"id"`
	Content    []block `json:"content"`
	StopReason string  `json:"stop_reason"`
	Usage      tokens  `json:"usage"`
	Error      struct {
		Message string `json:"message"`
	} `json:"error"`
	requestID string
	problem   error // reason why there was no answer
}

// toolList returns the tools that the model may call.
func toolList() []apiTool {
	return []apiTool{
		tool("Bash", "Runs a shell command.", "command", "description"),
		tool("Read", "Reads a file.", "file_path"),
		tool("Write", "Writes a file.", "file_path", "content"),
		tool("Edit", "Replaces a text in a file.", "file_path", "old_string", "new_string"),
	}
}

func tool(name, description string, fields ...string) apiTool {
	properties := map[string]any{}
	for _, f := range fields {
		properties[f] = map[string]string{"type": "string"}
	}
	return apiTool{name, description, encode(map[string]any{"type": "object", "properties": properties, "required": fields[:1]})}
}

// tooLong reports whether the API refused the request because the context is full.
func tooLong(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.status == 400 && strings.Contains(f.text, "prompt is too long")
}

// ask sends one request and retries it after a temporary error. Its error is
// errInterrupted or a *failure.
func (c *client) ask(ctx context.Context, base string, messages []message, tools []apiTool) (*apiReply, error) {
	body := encode(&apiRequest{
		Model: baseModel(c.model), MaxTokens: 32000, Messages: messages, Tools: tools,
		System: strings.TrimSpace("You are a stand-in for Claude Code.\n\n" + c.system()),
	})
	for attempt := 1; ; attempt++ {
		reply, status, again := c.post(ctx, strings.TrimSuffix(base, "/")+"/v1/messages", body)
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		if status == http.StatusOK {
			return reply, nil
		}
		e := c.errorText(status, reply.Error.Message)
		if status == 0 {
			e = c.noAnswer(reply.problem)
		}
		if !e.again || !again || attempt > c.number("CLAUDE_CODE_MAX_RETRIES", 10) {
			return nil, e.failure(status)
		}
		c.retry(attempt, status, e.retry)
		if !pause(ctx, time.Duration(retryDelay(attempt)*float64(time.Millisecond))) {
			return nil, errInterrupted
		}
	}
}

// longWait is the minimum retry-after, in seconds, at which the real program gives up
// immediately.
const longWait = 60

// post sends one request. status is 0 if there was no answer; again is false if the API
// asks for too long a wait.
func (c *client) post(ctx context.Context, url string, body []byte) (reply *apiReply, status int, again bool) {
	reply = new(apiReply)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.number("API_TIMEOUT_MS", apiTimeout))*time.Millisecond)
	defer cancel()
	fail := func(err error) (*apiReply, int, bool) {
		reply.problem = err
		return reply, 0, true
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fail(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("User-Agent", "claude-swarm-standin/"+string(c.release))
	req.Header.Set("X-Claude-Code-Session-Id", c.sess.id)
	if key := c.getenv("ANTHROPIC_API_KEY"); key != "" {
		req.Header.Set("X-Api-Key", key)
	}
	if token := c.getenv("ANTHROPIC_AUTH_TOKEN"); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fail(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return fail(err)
	}
	if err := json.Unmarshal(data, reply); err != nil && resp.StatusCode == http.StatusOK {
		return fail(err)
	}
	reply.requestID = resp.Header.Get("Request-Id")
	wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	return reply, resp.StatusCode, err != nil || wait < longWait
}
