package backends_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/models"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// steps contains the steps of one piece of work. Each agent does its own step and passes
// the next step to an agent with a different kind of client.
var steps = []struct {
	agent, backend string
	script         string // script for the agent's model; {r} is the round number
}{
	{"planner", "claude", ""},
	{"coder", "codex", "@write feature-{r}.txt it works\n"},
	{"reviewer", "gemini", "@sh cat feature-{r}.txt\n"},
	{"tester", "opencode", "@sh grep -q works feature-{r}.txt\n"},
	{"writer", "copilot", "@write manual-{r}.txt how it works\n"},
	{"closer", "cline", "@sh echo closed >closed-{r}.txt\n"},
}

// rounds is the number of pieces of work that the agents do.
const rounds = 2

// Agents of all kinds plan, write, review, test, document and close pieces of work. In the
// first round, the daemon is killed in the middle of a turn; in the second round, a client
// is killed. No message is lost, and none arrives twice.
func TestMixedSwarm(t *testing.T) {
	m := newMixed(t)
	m.swarm("start")
	for round := 1; round <= rounds; round++ {
		m.swarm("send", "planner", fmt.Sprintf("plan round %d", round))
		switch round {
		case 1:
			m.works("tester")
			m.killDaemon()
			m.swarm("start")
		case 2:
			m.works("reviewer")
			m.killClient("reviewer")
		}
		m.until(fmt.Sprintf("round %d is closed", round), 4*time.Minute, func(s *swarm.Status) bool {
			_, err := os.Stat(filepath.Join(m.dir, fmt.Sprintf("closed-%d.txt", round)))
			return err == nil && !slices.ContainsFunc(s.Agents, func(a swarm.AgentStatus) bool { return a.State == "working" || a.Waiting.Total() > 0 })
		})
	}
	status := m.status()
	for _, a := range status.Agents {
		if a.Dead != 0 {
			t.Errorf("%s has %d dead letters", a.Name, a.Dead)
		}
	}
	for _, s := range steps {
		done, err := filepath.Glob(filepath.Join(m.dir, ".dead-drop", s.agent, "done", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		var tasks []string
		for _, path := range done {
			if data, err := os.ReadFile(path); err == nil && bytes.Contains(data, []byte("\ntype: task\n")) {
				tasks = append(tasks, filepath.Base(path))
			}
		}
		if len(tasks) != rounds {
			t.Errorf("%s (%s) has done %d tasks, want %d: %q", s.agent, s.backend, len(tasks), rounds, tasks)
		}
	}
}

// mixed is a project whose agents use clients of every kind.
type mixed struct {
	t    *testing.T
	base string // contains the project and all homes
	dir  string
	env  []string
}

func newMixed(t *testing.T) *mixed {
	m := newProject(t)
	web := httptest.NewServer(&models.Server{})
	t.Cleanup(web.Close)
	agents := map[string]any{}
	for i, s := range steps {
		entry := m.client(s.agent, s.backend, web.URL)
		if s.backend == "claude" {
			maps.Copy(entry, m.planner(m.script(i+1)))
		}
		entry["linger"] = "10m"
		agents[s.agent] = entry
	}
	m.configure(map[string]any{"debounce": "300ms", "max_running": 2, "max_warm": len(steps), "defaults": map[string]any{"retry_delay": "1s"}, "agents": agents})
	return m
}

// newProject creates a project without a configuration. Its daemon is stopped at the end.
func newProject(t *testing.T) *mixed {
	base, err := os.MkdirTemp("", "m") // short, because the length of the daemon's socket path is limited
	if err != nil {
		t.Fatal(err)
	}
	m := &mixed{t: t, base: base, dir: filepath.Join(base, "project")}
	m.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(base, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"), "LANG=C.UTF-8"}
	for _, d := range []string{m.dir, filepath.Join(base, "home"), filepath.Join(base, "run")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		m.run("stop", "--now")
		if t.Failed() {
			t.Logf("the files are in %s", base)
		} else {
			os.RemoveAll(base)
		}
	})
	return m
}

// client returns the configuration of an agent with a real client, which uses the scripted models
// at a URL. For claude, it is empty; see planner.
func (m *mixed) client(agent, backend, url string) map[string]any {
	m.t.Helper()
	entry := map[string]any{"backend": backend}
	if backend == "claude" {
		return entry
	}
	c, err := acptest.Find(backend)
	if err != nil {
		m.t.Fatal(err)
	}
	home, err := acptest.Prepare(c, repository, filepath.Join(m.base, agent), url)
	if err != nil {
		m.t.Fatal(err)
	}
	env := map[string]string{}
	for _, each := range home.Env {
		name, value, _ := strings.Cut(each, "=")
		env[name] = value
	}
	delete(env, "PATH")
	entry["env"], entry["model"], entry["permissions"] = env, home.Model, map[string]any{"allow": []string{"execute", "edit"}, "otherwise": "allow"}
	entry["command"] = append([]string{home.Program}, backends.Kind(backend).Command[1:]...)
	return entry
}

// configure writes the configuration.
func (m *mixed) configure(config map[string]any) {
	m.t.Helper()
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "claude-swarm.yaml"), text, 0o600); err != nil { // JSON is also valid YAML
		m.t.Fatal(err)
	}
}

// script returns a function that creates the task for the agent that does step i of a
// round. The task contains a call that sends the next agent its task. Because the call
// has a key, a repeated turn does not send the task twice.
func (m *mixed) script(i int) func(round int) (to, body, key string) {
	return func(round int) (string, string, string) {
		to, key := steps[i].agent, fmt.Sprintf("round-%d-%s", round, steps[i].agent)
		body := strings.ReplaceAll(steps[i].script, "{r}", fmt.Sprint(round))
		if i+1 < len(steps) {
			next, nextBody, nextKey := m.script(i + 1)(round)
			call, err := json.Marshal(map[string]string{"to": next, "text": nextBody, "key": nextKey})
			if err != nil {
				m.t.Fatal(err)
			}
			body += "@tool send " + string(call) + "\n"
		}
		return to, body + "@say " + to + " is done", key
	}
}

// planner returns the configuration of the agent whose client is Claude Code. It also
// starts a scripted API that answers this agent's prompts.
func (m *mixed) planner(first func(round int) (to, body, key string)) map[string]any {
	program := filepath.Join(repository, ".tools", "claude", claude.Newest, "node_modules", ".bin", "claude")
	if _, err := os.Stat(program); err != nil {
		m.t.Fatalf("Claude Code %s is missing\n  try: make tools", claude.Newest)
	}
	type object = map[string]any
	replies := []object{{"match": object{"last_is_tool_result": true}, "times": -1, "text": "planned"}}
	for round := 1; round <= rounds; round++ {
		to, body, key := first(round)
		replies = append(replies, object{"match": object{"last_user_contains": fmt.Sprintf("plan round %d", round)}, "times": -1, "content": []object{
			{"tool_use": object{"name": "mcp__dead-drop__send", "input": object{"to": to, "text": body, "key": key}}},
		}})
	}
	text, err := json.Marshal(object{"replies": replies, "fallback": object{"text": "planned"}})
	if err != nil {
		m.t.Fatal(err)
	}
	scenario, err := fakeapi.Load(bytes.NewReader(text))
	if err != nil {
		m.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	url, wait, err := fakeapi.Listen(ctx, "127.0.0.1:0", fakeapi.New(scenario, nil))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() {
		cancel()
		if err := wait(); err != nil {
			m.t.Errorf("scripted API: %v", err)
		}
	})
	entry := map[string]any{"command": []string{program}, "model": "claude-sonnet-4-6", "env": map[string]string{
		"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-ant-test-0000",
		"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_ERROR_REPORTING": "1",
	}}
	return entry
}

func (m *mixed) run(args ...string) ([]byte, error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = m.dir, m.env
	return cmd.Output()
}

func (m *mixed) swarm(args ...string) []byte {
	m.t.Helper()
	out, err := m.run(args...)
	if err != nil {
		detail := ""
		if failed, ok := err.(*exec.ExitError); ok {
			detail = string(failed.Stderr)
		}
		m.t.Fatalf("claude-swarm %s: %v\n%s%s", strings.Join(args, " "), err, out, detail)
	}
	return out
}

func (m *mixed) status() *swarm.Status {
	m.t.Helper()
	var s swarm.Status
	if err := json.Unmarshal(m.swarm("status", "--json"), &s); err != nil {
		m.t.Fatal(err)
	}
	return &s
}

func (m *mixed) until(what string, limit time.Duration, ok func(*swarm.Status) bool) {
	m.t.Helper()
	for end := time.Now().Add(limit); !ok(m.status()); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			m.t.Fatalf("not within %v: %s\n%s", limit, what, m.swarm("status"))
		}
	}
}

// works waits until the agent is in a turn.
func (m *mixed) works(agent string) {
	m.t.Helper()
	m.until(agent+" works", 3*time.Minute, func(s *swarm.Status) bool {
		return slices.ContainsFunc(s.Agents, func(a swarm.AgentStatus) bool { return a.Name == agent && a.State == "working" && a.PID != nil })
	})
}

func (m *mixed) killDaemon() {
	m.t.Helper()
	d := m.status().Daemon
	if d == nil {
		m.t.Fatal("no daemon is running")
	}
	if err := syscall.Kill(d.PID, syscall.SIGKILL); err != nil {
		m.t.Fatal(err)
	}
}

// killClient kills the process group of the agent's client.
func (m *mixed) killClient(agent string) {
	m.t.Helper()
	for _, a := range m.status().Agents {
		if a.Name == agent && a.PID != nil {
			if err := syscall.Kill(-*a.PID, syscall.SIGKILL); err != nil {
				m.t.Logf("the client of %s is gone already: %v", agent, err)
			}
		}
	}
}
