package acpstandin_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acpstandin"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// as is the environment variable that makes the test binary act as the agent or as an MCP
// server with one tool.
const as = "ACPSTANDIN_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(as) {
	case "agent":
		os.Exit(acpstandin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	case "server":
		s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		type in struct {
			Text string `json:"text"`
		}
		mcp.AddTool(s, &mcp.Tool{Name: "repeat"}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: os.Getenv("WHO") + " says " + i.Text}}}, nil, nil
		})
		s.Run(context.Background(), &mcp.StdioTransport{}) // it returns an error at the end of the input
		return
	}
	os.Exit(m.Run())
}

// A talk is the dialogue between a test and one agent.
type talk struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan map[string]any
	id      int
	session string
	option  string // the kind of option to choose when answering questions
	asked   []map[string]any
	updates []map[string]any
	begun   func() // called at the next update; nil if the test does not wait for one
	stderr  string // the file with the standard error
}

// speak starts an agent in a home folder.
func speak(t *testing.T, home string, env []string, args ...string) *talk {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = slices.Concat([]string{as + "=agent", "HOME=" + home, "PATH=" + os.Getenv("PATH"),
		"GORACE=atexit_sleep_ms=0"}, env) // otherwise, each agent of a race build waits one second before it exits
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	errs, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	cmd.Stderr = errs
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, cmd: cmd, in: in, lines: make(chan map[string]any, 1000), option: "allow_once", stderr: errs.Name()}
	go func() { // ends when the agent exits; Cleanup kills the agent
		defer close(k.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var m map[string]any
			if json.Unmarshal(line, &m) == nil {
				k.lines <- m
			}
		}
	}()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		if t.Failed() {
			t.Logf("standard error: %s", k.complaints())
		}
	})
	return k
}

// complaints returns what the agent has printed to standard error.
func (k *talk) complaints() string {
	k.t.Helper()
	data, err := os.ReadFile(k.stderr)
	if err != nil {
		k.t.Fatal(err)
	}
	return string(data)
}

func (k *talk) send(m map[string]any) {
	k.t.Helper()
	m["jsonrpc"] = "2.0"
	data, err := json.Marshal(m)
	if err != nil {
		k.t.Fatal(err)
	}
	k.in.Write(append(data, '\n'))
}

// next returns the next line of output, or nil at the end.
func (k *talk) next() map[string]any {
	k.t.Helper()
	select {
	case m := <-k.lines:
		return m
	case <-time.After(2 * time.Minute):
		k.t.Fatal("the agent is silent")
		return nil
	}
}

// ask sends a request and returns its response. While it waits, it answers the agent's
// questions and stores the updates.
func (k *talk) ask(method string, params map[string]any) map[string]any {
	k.t.Helper()
	k.id++
	id := k.id
	k.send(map[string]any{"id": id, "method": method, "params": params})
	for {
		m := k.next()
		switch {
		case m == nil:
			k.t.Fatalf("%s: the agent has exited", method)
		case m["method"] == "session/update":
			k.updates = append(k.updates, m["params"].(map[string]any)["update"].(map[string]any))
			if begun := k.begun; begun != nil {
				k.begun = nil
				begun()
			}
		case m["method"] == "session/request_permission":
			p := m["params"].(map[string]any)
			k.asked = append(k.asked, p)
			for _, o := range p["options"].([]any) {
				if o := o.(map[string]any); o["kind"] == k.option {
					k.send(map[string]any{"id": m["id"], "result": map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": o["optionId"]}}})
				}
			}
		case m["method"] != nil && m["id"] != nil:
			k.send(map[string]any{"id": m["id"], "error": map[string]any{"code": -32601, "message": "Method not found"}})
		case m["id"] == float64(id):
			return m
		}
	}
}

// open initializes the agent and begins or resumes a session.
func (k *talk) open(dir string, servers ...any) {
	k.t.Helper()
	k.ask("initialize", map[string]any{"protocolVersion": 1})
	method, params := "session/new", map[string]any{"cwd": dir, "mcpServers": append([]any{}, servers...)}
	if k.session != "" {
		method, params["sessionId"] = "session/resume", k.session
	}
	m := k.ask(method, params)
	if e, ok := m["error"].(map[string]any); ok && e["code"] == float64(-32601) {
		m = k.ask("session/load", params)
	}
	if m["error"] != nil {
		k.t.Fatalf("%s: %v", method, m["error"])
	}
	if id, ok := m["result"].(map[string]any)["sessionId"].(string); ok {
		k.session = id
	}
	k.updates = nil
}

// prompt runs a turn and returns its response.
func (k *talk) prompt(text string) map[string]any {
	k.t.Helper()
	return k.ask("session/prompt", map[string]any{"sessionId": k.session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
}

// said returns the text of the updates so far.
func (k *talk) said() string {
	text := ""
	for _, u := range k.updates {
		if u["sessionUpdate"] == "agent_message_chunk" {
			text += u["content"].(map[string]any)["text"].(string)
		}
	}
	return text
}

// each runs a test for every personality.
func each(t *testing.T, test func(t *testing.T, name string, is acpstandin.Personality)) {
	for _, name := range slices.Sorted(maps.Keys(acpstandin.Personalities)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name, acpstandin.Personalities[name])
		})
	}
}

func start(t *testing.T, name string, env ...string) (k *talk, home, dir string) {
	home, dir = t.TempDir(), t.TempDir()
	return speak(t, home, append(env, "ACPSTANDIN="+name, "CLINE_SESSION_BACKEND_MODE=local")), home, dir
}

func TestTurns(t *testing.T) {
	each(t, func(t *testing.T, name string, is acpstandin.Personality) {
		k, home, dir := start(t, name)
		k.open(dir)
		m := k.prompt("@say hello world\n@write a.txt text")
		if r := m["result"].(map[string]any); r["stopReason"] != "end_turn" || !strings.HasSuffix(k.said(), "hello world") {
			t.Errorf("the turn says %q and ends %v", k.said(), m)
		}
		if data, err := os.ReadFile(filepath.Join(dir, "a.txt")); string(data) != "text" {
			t.Errorf("the file is %q, %v", data, err)
		}
		if len(k.asked) == 0 != (is.Asks == "dangerous") {
			t.Errorf("asked %v, where the client asks %s", k.asked, is.Asks)
		}

		// Another process resumes the session, and an unknown session is refused.
		again := speak(t, home, []string{"ACPSTANDIN=" + name, "CLINE_SESSION_BACKEND_MODE=local"})
		again.session = k.session
		again.open(dir)
		again.prompt("@say more")
		if !strings.HasSuffix(again.said(), "more") {
			t.Errorf("the second process says %q", again.said())
		}
		if m := again.ask("session/load", map[string]any{"cwd": dir, "sessionId": "nothing", "mcpServers": []any{}}); m["error"] == nil {
			t.Errorf("an unknown session is %v", m)
		}
	})
}

func TestRefusedCallDoesNotRun(t *testing.T) {
	each(t, func(t *testing.T, name string, is acpstandin.Personality) {
		k, _, dir := start(t, name, "INITIAL_AGENT_MODE=workspace-write")
		k.open(dir)
		k.option = "reject_once"
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		m := k.prompt("@sh rm -rf sub\n@say after")
		if _, err := os.Stat(filepath.Join(dir, "sub")); err != nil || len(k.asked) != 1 {
			t.Errorf("the refused command ran (%v), or asked %v", err, k.asked)
		}
		want := map[string]string{"cancelled": "cancelled"}[is.Refused]
		if want == "" {
			want = "end_turn"
		}
		if r := m["result"].(map[string]any); r["stopReason"] != want || strings.Contains(k.said(), "after") != (is.Refused == "goes-on") {
			t.Errorf("the turn ends %v and says %q, after a refusal that %s", r, k.said(), is.Refused)
		}
	})
}

func TestCancelEndsATurnAndTheNextOneRuns(t *testing.T) {
	each(t, func(t *testing.T, name string, _ acpstandin.Personality) {
		k, _, dir := start(t, name)
		k.open(dir)
		k.begun = func() {
			k.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": k.session}})
		}
		if m := k.prompt("@say begun\n@sleep 10m"); m["result"].(map[string]any)["stopReason"] != "cancelled" {
			t.Errorf("a cancelled turn ends %v", m)
		}
		k.updates = nil
		if k.prompt("@say on"); !strings.HasSuffix(k.said(), "on") {
			t.Errorf("the next turn says %q", k.said())
		}
	})
}

func TestToolsOfAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	each(t, func(t *testing.T, name string, is acpstandin.Personality) {
		home, dir := t.TempDir(), t.TempDir()
		file := filepath.Join(home, "m.json")
		data, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"dead-drop": map[string]any{"command": self, "args": []string{}, "env": map[string]string{as: "server", "WHO": "coder"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		server := map[string]any{"name": "dead-drop", "command": self, "args": []string{}, "env": []any{map[string]any{"name": as, "value": "server"}, map[string]any{"name": "WHO", "value": "coder"}}}
		k := speak(t, home, []string{"ACPSTANDIN=" + name, "CLINE_SESSION_BACKEND_MODE=local", "CLINE_MCP_SETTINGS_PATH=" + file}, "--skip-trust", "--additional-mcp-config", "@"+file)
		k.open(dir, server)
		k.prompt(`@tool repeat {"text": "hi"}`)
		all, _ := json.Marshal(k.updates)
		if !strings.Contains(string(all), "coder says hi") || len(k.asked) == 0 != (is.AsksTools == "never") {
			t.Errorf("updates %s, asked %v", all, k.asked)
		}
		k.in.Close()
		gone := k.gone()
		for waiting := true; waiting; {
			select {
			case <-gone:
				waiting = false
				if is.StaysOpen {
					t.Error("the agent ends although it has a server")
				}
			case <-time.After(5 * time.Millisecond): // the interval between checks; the test's own deadline limits their number
				if waiting = !strings.Contains(k.complaints(), "it stays"); !waiting && !is.StaysOpen {
					t.Error("the agent does not end with its input")
				}
			}
		}

		bare := speak(t, t.TempDir(), []string{"ACPSTANDIN=" + name, "CLINE_SESSION_BACKEND_MODE=local"})
		bare.open(dir, server)
		bare.prompt(`@tool repeat {"text": "hi"}`)
		all, _ = json.Marshal(bare.updates)
		if strings.Contains(string(all), "coder says hi") != (is.Servers == "session") {
			t.Errorf("with a server in session/new alone: %s", all)
		}
	})
}

// gone returns a channel that is closed after the agent's last line.
func (k *talk) gone() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		for range k.lines {
		}
		close(done)
	}()
	return done
}

func TestStatusAsEachClientTellsIt(t *testing.T) {
	for name, want := range map[string]struct{ script, text, code, stop string }{
		"codex":    {"@status 429", "exceeded retry limit", "", "end_turn"},
		"opencode": {"@status 429", "", "-32603", ""},
		"copilot":  {"@status 400", "Error: 400", "", "end_turn"},
		"gemini":   {"@status 503", "", "503", ""},
		"cline":    {"@status 500", "", "-32603", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k, _, dir := start(t, name, `ACPSTANDIN_QUIRKS={"silence":100}`)
			k.open(dir)
			m := k.prompt(want.script)
			code, stop := "", ""
			if e, ok := m["error"].(map[string]any); ok {
				data, _ := json.Marshal(e["code"])
				code = string(data)
			} else {
				stop = m["result"].(map[string]any)["stopReason"].(string)
			}
			if code != want.code || stop != want.stop || !strings.Contains(k.said(), want.text) {
				t.Errorf("%s is %v and the text %q, want %+v", want.script, m, k.said(), want)
			}
		})
	}
}

func TestNoiseAndSteering(t *testing.T) {
	k, _, dir := start(t, "acp", `ACPSTANDIN_QUIRKS={"noise":true}`)
	k.open(dir)
	k.begun = func() {
		k.send(map[string]any{"id": 900, "method": "_session/steering", "params": map[string]any{"sessionId": k.session, "prompt": []any{map[string]any{"type": "text", "text": "@say steered"}}}})
	}
	if m := k.prompt("@steer\n@say end"); m["error"] != nil || k.said() != "steeredend" {
		t.Errorf("the turn is %v and says %q", m, k.said())
	}
}

// A bad client does not answer as a good one does. The input ends after the question, so
// that all clients exit, except those that print forever.
func TestBadClientsAreBad(t *testing.T) {
	for _, bad := range acpstandin.Bad {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			k, _, _ := start(t, "acp", "ACPSTANDIN_BAD="+bad)
			k.send(map[string]any{"id": 1, "method": "initialize", "params": map[string]any{"protocolVersion": 1}})
			k.in.Close()
			good := 0
			for range 10000 {
				m, ok := <-k.lines
				if !ok {
					break
				}
				if m["id"] == float64(1) && m["result"] != nil && m["_deep"] == nil {
					good++
				}
			}
			recovers := slices.Contains([]string{"garbage", "long-line", "many-lines"}, bad)
			if good == 1 && !recovers {
				t.Errorf("the client answers correctly")
			}
		})
	}
}
