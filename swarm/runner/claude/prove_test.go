package claude_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// withTools returns a turn whose client must have the tools of our server.
func withTools(t *testing.T, script string, env ...string) runner.Turn {
	turn := newTurn(t, script, env...)
	turn.Servers = filepath.Join(filepath.Dir(turn.Stdout), "servers.json")
	turn.Tools = &runner.Server{Command: "/opt/claude-swarm", Args: []string{"mcp"}}
	return turn
}

// The prompt is held back until the client has the tools of our server. A client that lacks
// them is terminated, and its turn never counts as done. The client may report the missing
// tools before the prompt, or only in its init line.
func TestToolsAreProved(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		env    []string
		end    runner.End
		reason string
		prompt bool // the prompt was sent
	}{
		"connected":                                {nil, runner.Done, "", true},
		"connected after a while":                  {[]string{"STANDIN_MCP=slow"}, runner.Done, "", true},
		"connected after a second":                 {[]string{"STANDIN_MCP=after 1s"}, runner.Done, "", true},
		"connected, and slow to answer":            {[]string{"STANDIN_MCP_ANSWER=after 1s"}, runner.Done, "", true},
		"connected late, by a client that is slow": {[]string{"STANDIN_MCP=after 1s", "STANDIN_MCP_ANSWER=after 600ms"}, runner.Done, "", true},
		"never connected":                          {[]string{"STANDIN_MCP=pending"}, runner.NoFirstEvent, "dead-drop tools: pending for 5s", false},
		"never connected, by a client that is slow": {[]string{"STANDIN_MCP=pending", "STANDIN_MCP_ANSWER=after 600ms"},
			runner.NoFirstEvent, "dead-drop tools: pending for 5s", false},
		"failed":                     {[]string{"STANDIN_MCP=failed ENOENT: no such file"}, runner.NoFirstEvent, "dead-drop tools: failed: ENOENT: no such file", false},
		"needs a login":              {[]string{"STANDIN_MCP=needs-auth"}, runner.NoFirstEvent, "dead-drop tools: needs-auth", false},
		"no answer, and connected":   {[]string{"STANDIN_MCP_ANSWER=none"}, runner.Done, "", true},
		"no answer, and pending":     {[]string{"STANDIN_MCP_ANSWER=none", "STANDIN_MCP=pending"}, runner.NoFirstEvent, "dead-drop tools: pending", true},
		"no answer, and failed":      {[]string{"STANDIN_MCP_ANSWER=none", "STANDIN_MCP=failed"}, runner.NoFirstEvent, "dead-drop tools: failed", true},
		"unknown to it, connected":   {[]string{"STANDIN_MCP_ANSWER=unknown"}, runner.Done, "", true},
		"unknown to it, and pending": {[]string{"STANDIN_MCP_ANSWER=unknown", "STANDIN_MCP=pending"}, runner.NoFirstEvent, "dead-drop tools: pending", true},
		"unknown to it, and failed":  {[]string{"STANDIN_MCP_ANSWER=unknown", "STANDIN_MCP=failed"}, runner.NoFirstEvent, "dead-drop tools: failed", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The work takes little time, so a successful result may arrive. It must not
			// count if the tools are missing.
			turn := withTools(t, "@say worked", c.env...)
			prompted := false
			turn.Event = func(ev *streamjson.Event) {
				if ev.Kind == streamjson.KindControl {
					t.Errorf("the event %s is not part of the turn", ev.Raw)
				}
				prompted = prompted || ev.Kind == streamjson.KindReplay
			}
			timing := short
			timing.Connect = time.Hour
			switch {
			case strings.HasPrefix(name, "no answer"):
				timing.Connect = 500 * time.Millisecond
			case strings.HasPrefix(name, "never connected"): // the client must have answered once by then
				timing.Connect = 5 * time.Second
			}
			out := claude.New(claude.Options{Timing: timing}).Run(t.Context(), turn)
			if out.End != c.end || !strings.Contains(out.Reason, c.reason) {
				t.Errorf("ended %s (%s), want %s (…%s)", out.End, out.Reason, c.end, c.reason)
			}
			if c.end == runner.Done && out.Text != "worked" {
				t.Errorf("it said %q", out.Text)
			}
			if c.end != runner.Done && !strings.Contains(out.Hint, "mcp: false") {
				t.Errorf("the hint is %q, want what to do", out.Hint)
			}
			if prompted != c.prompt {
				t.Errorf("prompted: %v, want %v", prompted, c.prompt)
			}
			if !c.prompt && out.FirstEvent {
				t.Error("a client without a prompt counts as begun")
			}
		})
	}
}

// The limits for silent or long turns do not apply before the prompt is sent, because the
// message is not the cause of a slow start.
func TestALimitOfTheTurnWhileItsToolsAreMissing(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, limit := range map[string]func(*runner.Spec){
		"stall":              func(s *runner.Spec) { s.Stall = 500 * time.Millisecond },
		"timeout":            func(s *runner.Spec) { s.Timeout = 500 * time.Millisecond },
		"timeout, no answer": func(s *runner.Spec) { s.Timeout, s.Command = 500*time.Millisecond, script(t, "exec sleep 600") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := withTools(t, "@say worked", "STANDIN_MCP=pending")
			limit(&turn.Spec)
			timing := short
			timing.Connect, timing.Sample = time.Second, 100*time.Millisecond
			if out := claude.New(claude.Options{Timing: timing}).Run(t.Context(), turn); out.End != runner.NoFirstEvent {
				t.Errorf("ended %s (%s), want %s", out.End, out.Reason, runner.NoFirstEvent)
			}
		})
	}
}

// If the daemon died while it was asking for the tools, the output file contains no event
// of the turn.
func TestFollowATurnWithoutItsPrompt(t *testing.T) {
	turn := withTools(t, "@say worked")
	line := `{"type":"control_response","response":{"subtype":"success","request_id":"claude-swarm-tools-1","response":{"mcpServers":[{"name":"dead-drop","status":"failed"}]}}}` + "\n"
	if err := os.WriteFile(turn.Stdout, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	turn.Event = func(ev *streamjson.Event) { t.Errorf("event %s", ev.Raw) }
	if out := backend().Follow(t.Context(), turn, runner.Process{}); out.End != runner.NoResult || out.FirstEvent {
		t.Errorf("ended %s (%s), with an event: %v; want %s without", out.End, out.Reason, out.FirstEvent, runner.NoResult)
	}
}

func TestServersFile(t *testing.T) {
	turn := withTools(t, "@say worked")
	turn.Spec.Servers = map[string]runner.Server{
		"files": {Command: "npx", Args: []string{"-y", "x"}, Env: map[string]string{"A": "b"}},
		"far":   {Type: "http", URL: "https://example.com/mcp", Headers: map[string]string{"Authorization": "Bearer ${TOKEN}"}},
	}
	if out := backend().Run(t.Context(), turn); out.End != runner.Done {
		t.Fatalf("ended %s (%s)", out.End, out.Reason)
	}
	data, err := os.ReadFile(turn.Servers)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]map[string]map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"dead-drop": `{"alwaysLoad":true,"args":["mcp"],"command":"/opt/claude-swarm","type":"stdio"}`,
		"files":     `{"args":["-y","x"],"command":"npx","env":{"A":"b"},"type":"stdio"}`,
		"far":       `{"headers":{"Authorization":"Bearer ${TOKEN}"},"type":"http","url":"https://example.com/mcp"}`,
	}
	for name, text := range want {
		server, err := json.Marshal(got["mcpServers"][name])
		if err != nil || string(server) != text {
			t.Errorf("%s is %s (%v), want %s", name, server, err, text)
		}
	}
	if info, err := os.Stat(turn.Servers); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file with secrets has mode %v (%v)", info.Mode(), err)
	}
}

// A client that never prints anything is ended by stall_timeout or turn_timeout, although its
// prompt is held back. No other limit ends these turns. A client that answers that its tools
// are pending shows signs of life: see TestThePromptWaitsForTheTools.
func TestAClientThatNeverAnswers(t *testing.T) {
	for limit, says := range map[string]string{"stall": "no sign of life for", "turn": "no answer for 1s"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			turn := withTools(t, "@say never")
			turn.Spec.Command = []string{"/bin/sh", "-c", "sleep 1000"}
			if limit == "stall" {
				turn.Spec.Stall = time.Second
			} else {
				turn.Spec.Timeout = time.Second
			}
			timing := short
			timing.Connect = time.Hour
			out := claude.New(claude.Options{Timing: timing}).Run(t.Context(), turn)
			if out.End != runner.NoFirstEvent || !strings.Contains(out.Reason, says) {
				t.Errorf("ended %s (%s), want %s and %q", out.End, out.Reason, runner.NoFirstEvent, says)
			}
		})
	}
}
