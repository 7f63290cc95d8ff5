package compat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
)

func errorIsTold(l *lab) (string, error) {
	if err := l.script(`{"name":"bad","times":-1,"status":400,"error_type":"invalid_request_error","error_message":"no luck"}`); err != nil {
		return "", err
	}
	r, err := l.turn(first, "Begin")
	if err != nil {
		return "", err
	}
	l.told(r, "type", "subtype", "is_error", "api_error_status")
	return yes(r["is_error"] == true && r["api_error_status"] == 400.0, "is_error %v, api_error_status %v", r["is_error"], r["api_error_status"])
}

func limitNamesReset(l *lab) (string, error) {
	reset := time.Now().Add(time.Hour).Unix()
	l.env = []string{"CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-one"}
	l.noKey = true
	err := l.script(fmt.Sprintf(`{"name":"limit","times":-1,"status":429,"headers":{"anthropic-ratelimit-unified-status":"rejected",
		"anthropic-ratelimit-unified-reset":"%d","anthropic-ratelimit-unified-representative-claim":"five_hour"}}`, reset))
	if err != nil {
		return "", err
	}
	c, err := l.start()
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	r, err := c.await(1, "result", "")
	if err != nil {
		return "", err
	}
	for _, n := range c.all("rate_limit_event", "") {
		info, _ := n["rate_limit_info"].(map[string]any)
		if info["status"] == "rejected" {
			l.told(n, "type", "rate_limit_info.status", "rate_limit_info.rateLimitType", "rate_limit_info.resetsAt")
		}
		if at, ok := info["resetsAt"].(float64); ok && int64(at) == reset {
			return "yes, in `rate_limit_event`", nil
		}
	}
	return yes(false, "%v", r["result"])
}

// costOfATurn reads the costs of two identical turns in one session, each of which runs
// in a separate process. It follows the rule in swarm/runner/claude: it reads the new
// field if there is one, otherwise the total.
func costOfATurn(l *lab) (string, error) {
	if err := l.script(`{"name":"rest","times":-1,"text":"Done.","usage":{"input_tokens":1000,"output_tokens":100}}`); err != nil {
		return "", err
	}
	var costs []float64
	field := ""
	for i, flag := range []string{"--session-id", "--resume"} {
		r, err := l.turn([]string{first, second}[i], "Begin", flag, session)
		if err != nil {
			return "", err
		}
		cost, _ := r["total_cost_usd"].(float64)
		field = "total_cost_usd"
		if since, ok := r["model_usage_since_last_result"].(map[string]any); ok {
			cost, field = 0, "model_usage_since_last_result"
			for _, usage := range since {
				u, _ := usage.(map[string]any)
				usd, ok := u["costUSD"].(float64)
				if !ok {
					return "", fmt.Errorf("%w: %v", errStrange, since)
				}
				cost += usd
			}
		}
		costs = append(costs, cost)
		if field == "model_usage_since_last_result" {
			l.told(r, field+".*.costUSD", field+".*.inputTokens", field+".*.outputTokens")
		}
		l.told(r, "total_cost_usd", "usage.input_tokens", "usage.output_tokens", "num_turns")
	}
	if costs[0] <= 0 || math.Abs(costs[0]-costs[1]) > 1e-9 {
		return yes(false, "%s says %v for two equal turns", field, costs)
	}
	return "yes, by `" + field + "`", nil
}

func deniedIsNamed(l *lab) (string, error) {
	if err := l.script(bash("touch made"), rest); err != nil {
		return "", err
	}
	r, err := l.turn(first, "Begin", "--permission-mode", "dontAsk", "--allowedTools", "Read")
	if err != nil {
		return "", err
	}
	_, made := os.Stat(filepath.Join(l.dir, "made"))
	denials, _ := r["permission_denials"].([]any)
	named := slices.ContainsFunc(denials, func(d any) bool {
		m, _ := d.(map[string]any)
		return m["tool_name"] == "Bash"
	})
	l.told(r, "permission_denials.*.tool_name", "permission_denials.*.tool_use_id", "permission_denials.*.tool_input")
	if _, err := l.last("tool_result"); err != nil {
		return "", err
	}
	return yes(made != nil && named, "ran %v, denials %v", made == nil, denials)
}

// withServer starts a client with an MCP server and waits until the server is connected or
// has failed, or until patience has passed. The returned string is the server's status.
func withServer(l *lab) (*client, string, error) {
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"compat": map[string]any{"type": "stdio", "command": l.server[0], "args": l.server[1:], "alwaysLoad": true},
	}})
	if err != nil {
		return nil, "", err
	}
	path, err := l.write("servers.json", string(config))
	if err != nil {
		return nil, "", err
	}
	c, err := l.start("--mcp-config", path)
	if err != nil {
		return nil, "", err
	}
	status := ""
	for n, deadline := 1, time.Now().Add(patience); status != "connected" && status != "failed" && time.Now().Before(deadline); n++ {
		if err := c.control("status-"+strconv.Itoa(n), map[string]any{"subtype": "mcp_status"}); err != nil {
			return nil, "", err
		}
		got, err := c.await(n, "control_response", "")
		if err != nil {
			return nil, "", err
		}
		data, err := json.Marshal(got)
		if err != nil {
			return nil, "", err
		}
		var told struct {
			Response struct {
				Response struct {
					Servers []struct{ Name, Status string } `json:"mcpServers"`
				} `json:"response"`
			} `json:"response"`
		}
		if err := json.Unmarshal(data, &told); err != nil {
			return nil, "", fmt.Errorf("%w: %s", errStrange, data)
		}
		for _, s := range told.Response.Response.Servers {
			if s.Name == "compat" {
				status = s.Status
			}
		}
		if status == "connected" {
			l.told(got, "type", "response.subtype", "response.response.mcpServers.*.name", "response.response.mcpServers.*.status")
		}
		time.Sleep(20 * time.Millisecond) // wait between two requests
	}
	return c, status, nil
}

func statusOfServers(l *lab) (string, error) {
	_, status, err := withServer(l)
	if err != nil {
		return "", err
	}
	return yes(status == "connected", "%q", status)
}

func toolsAreOffered(l *lab) (string, error) {
	c, _, err := withServer(l)
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	if _, err := c.await(1, "result", ""); err != nil {
		return "", err
	}
	l.shape.Reset() // another fact compares the status
	asked := l.asked()
	if len(asked) == 0 {
		return yes(false, "the model was not asked")
	}
	names, err := offered(asked[0])
	if err != nil {
		return "", err
	}
	return yes(slices.Contains(names, "mcp__compat__echo"), "%v", names)
}

// offered returns the names of the tools in a request.
func offered(r fakeapi.Request) ([]string, error) {
	var request struct {
		Tools []struct{ Name string } `json:"tools"`
	}
	if err := json.Unmarshal(r.Body, &request); err != nil {
		return nil, fmt.Errorf("%w: %w", errStrange, err)
	}
	var names []string
	for _, t := range request.Tools {
		names = append(names, t.Name)
	}
	return names, nil
}

// quietFor is how long the experiment waits for a message before it counts the message as
// refused. An accepted message arrives within a tenth of a second.
const quietFor = 2 * time.Second

// tellBob makes one session send a message to another, and reports whether the message
// arrived.
func tellBob(l *lab, flags ...string) (came bool, err error) {
	bob, err := l.start(append([]string{"--name", "bob"}, flags...)...)
	if err != nil {
		return false, err
	}
	if err := bob.say(first, "Wait"); err != nil {
		return false, err
	}
	if _, err := bob.await(1, "result", ""); err != nil {
		return false, err
	}
	err = l.script(`{"name":"tell","match":{"last_user_contains":"Begin"},"content":[{"tool_use":{"name":"SendMessage",
		"input":{"to":"bob","message":"MESSAGE-WORD","summary":"a word"}}}]}`, rest)
	if err != nil {
		return false, err
	}
	if _, err := l.turn(second, "Begin", "--permission-mode", "dontAsk", "--allowedTools", "Read"); err != nil {
		return false, err
	}
	deadline := time.Now().Add(quietFor)
	for len(bob.all("result", "")) < 2 && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond) // wait between two checks
	}
	// The two sessions ask the model in any order.
	var forms []string
	for _, r := range l.asked() {
		if bytes.Contains(r.Body, []byte("MESSAGE-WORD")) {
			l.shape.Reset()
			if err := l.sees(r, "MESSAGE-WORD", "tool_result"); err != nil {
				return false, err
			}
			forms = append(forms, l.shape.String())
		}
	}
	slices.Sort(forms)
	l.shape.Reset()
	l.shape.WriteString(strings.Join(forms, ""))
	return len(bob.all("result", "")) > 1, nil
}

func messageComesIn(l *lab) (string, error) {
	came, err := tellBob(l)
	if err != nil {
		return "", err
	}
	if came {
		return "yes", nil
	}
	return "no", nil
}

func messageIsRefused(l *lab) (string, error) {
	settings, err := l.write("settings.json", `{"crossSessionInbound":"refuse"}`)
	if err != nil {
		return "", err
	}
	came, err := tellBob(l, "--settings", settings, "--disallowedTools", "SendMessage", "ListAgents")
	if err != nil {
		return "", err
	}
	return yes(!came, "it began a turn")
}

// termEndsAll ends a client with SIGTERM while a command is running, and checks whether
// the command has ended too.
func termEndsAll(l *lab) (string, error) {
	if err := l.script(bash("echo $$ > shell.new; mv shell.new shell; "+l.while("sleep 0.1")), rest); err != nil {
		return "", err
	}
	c, err := l.start("--allowedTools", "Bash")
	if err != nil {
		return "", err
	}
	if err := c.say(first, "Begin"); err != nil {
		return "", err
	}
	shell := 0
	err = until(l.ctx, "the command runs", func() bool {
		data, err := os.ReadFile(filepath.Join(l.dir, "shell"))
		if err == nil {
			shell, err = strconv.Atoi(strings.TrimSpace(string(data)))
		}
		return err == nil
	}, c.ended)
	if err != nil {
		return "", err
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return "", err
	}
	select {
	case <-c.ended:
	case <-l.ctx.Done():
		return "", l.ctx.Err()
	case <-time.After(patience):
		return "no: SIGTERM does not end the client", nil
	}
	for range 50 {
		if errors.Is(syscall.Kill(shell, 0), syscall.ESRCH) {
			return "yes", nil
		}
		time.Sleep(20 * time.Millisecond) // wait between two checks
	}
	return "no", nil // the command ends when the lab's folders are gone
}
