package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A project is a temporary project with a separate home and a scripted API.
type project struct {
	t    testing.TB
	dir  string
	home string
	env  []string
	api  *fakeapi.Server
	url  string // address of the API
}

// newProject creates a project with the given agents (YAML below `agents:`) and starts
// the API with a scenario. It does not start the daemon.
func newProject(t testing.TB, scenario, agents string) *project {
	t.Helper()
	base, err := os.MkdirTemp("", "e") // short, because the length of the control socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	p := &project{t: t, dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for _, d := range []string{p.dir, p.home, filepath.Join(base, "run")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sc, err := fakeapi.Load(strings.NewReader(scenario))
	if err != nil {
		t.Fatal(err)
	}
	p.api = fakeapi.New(sc, nil)
	ctx, cancel := context.WithCancel(context.Background())
	url, wait, err := fakeapi.Listen(ctx, "127.0.0.1:0", p.api)
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := wait(); err != nil {
			t.Errorf("scripted API: %v", err)
		}
	})
	p.url = url
	p.env = []string{
		"PATH=" + filepath.Dir(cli) + ":" + os.Getenv("PATH"), "HOME=" + p.home, "XDG_RUNTIME_DIR=" + filepath.Join(base, "run"),
		"LANG=C.UTF-8", "TMPDIR=" + base,
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-test-0000",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
	}
	config := "debounce: 300ms\nmax_running: 2\ndefaults:\n  command: " + cli + "\n  model: claude-sonnet-4-6\n  retry_delay: 300ms\nagents:\n" + agents
	p.write("claude-swarm.yaml", config)
	t.Cleanup(p.stop)
	return p
}

// script replaces the API's scenario.
func (p *project) script(scenario string) {
	p.t.Helper()
	sc, err := fakeapi.Load(strings.NewReader(scenario))
	if err != nil {
		p.t.Fatal(err)
	}
	p.api.SetScenario(sc)
}

func (p *project) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *project) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(data)
}

// swarm runs one of our program's commands and returns its output.
func (p *project) swarm(args ...string) string {
	p.t.Helper()
	out, stderr, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("claude-swarm %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr)
	}
	return out
}

func (p *project) try(args ...string) (stdout, stderr string, err error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

func (p *project) start() { p.t.Helper(); p.swarm("start") }

// stop shuts down the daemon at the end of a test, if it is running.
func (p *project) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "stop", "--now")
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); err != nil && code != 4 { // 4 means that no daemon is running
		p.t.Errorf("stop: %v\n%s", err, out)
	}
	if p.t.Failed() {
		for _, name := range []string{"daemon.log", "ledger.jsonl"} {
			p.t.Logf("%s:\n%s", name, p.read(".claude-swarm/"+name))
		}
		logs, _ := filepath.Glob(filepath.Join(p.dir, ".claude-swarm/logs/*.log"))
		for _, l := range logs {
			data, _ := os.ReadFile(l)
			p.t.Logf("%s:\n%s", filepath.Base(l), data)
		}
	}
}

// send sends a message and returns its id.
func (p *project) send(args ...string) string {
	p.t.Helper()
	return strings.TrimSpace(p.swarm(append([]string{"send"}, args...)...))
}

func (p *project) status() swarm.Status {
	p.t.Helper()
	var st swarm.Status
	if err := json.Unmarshal([]byte(p.swarm("status", "--json")), &st); err != nil {
		p.t.Fatal(err)
	}
	return st
}

func (p *project) agent(name string) swarm.AgentStatus {
	p.t.Helper()
	for _, a := range p.status().Agents {
		if a.Name == name {
			return a
		}
	}
	p.t.Fatalf("no agent %s in the status", name)
	return swarm.AgentStatus{}
}

// until waits for a condition. The timeout is three minutes for steps that take one
// second on an idle machine, because a client takes ten seconds to start at a load of 20.
func (p *project) until(what string, ok func() bool) {
	p.t.Helper()
	p.within(3*time.Minute, what, ok)
}

// untilLong is like until, for a condition that takes many turns.
func (p *project) untilLong(what string, ok func() bool) {
	p.t.Helper()
	p.within(15*time.Minute, what, ok)
}

func (p *project) within(limit time.Duration, what string, ok func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			p.t.Fatalf("never happened: %s\n%s", what, p.swarm("status"))
		}
		select {
		case <-time.After(200 * time.Millisecond): // most conditions start a process
		case <-p.t.Context().Done():
			p.t.Fatal(p.t.Context().Err())
		}
	}
}

// receipt waits for the receipt of a message.
func (p *project) receipt(agent, id string) *journal.Receipt {
	p.t.Helper()
	var found []string
	p.until("a receipt of "+id, func() bool {
		found, _ = fs.Glob(os.DirFS(p.dir), ".dead-drop/"+agent+"/done/*/*"+id+".receipt.yaml") // the path of the project is no pattern
		return len(found) == 1
	})
	r, err := journal.ReadReceipt(filepath.Join(p.dir, found[0]))
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

// A turnRequest contains the parts of a request to the model that tests need.
type turnRequest struct {
	Reply    string // the name of the scripted reply
	Session  string
	LastUser string // text and tool results of the last user message
	All      string // the whole request, as JSON
}

// requests returns the requests to the model that belong to a conversation, oldest first.
func (p *project) requests() []turnRequest {
	p.t.Helper()
	var out []turnRequest
	for _, r := range p.api.Requests() {
		if r.Kind != fakeapi.Main {
			continue
		}
		var body struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if err := json.Unmarshal(r.Body, &body); err != nil {
			p.t.Fatal(err)
		}
		q := turnRequest{Reply: r.Reply, Session: r.Header["X-Claude-Code-Session-Id"], All: string(r.Body)}
		for i := len(body.Messages) - 1; i >= 0; i-- {
			if body.Messages[i].Role == "user" {
				q.LastUser = flatten(body.Messages[i].Content)
				break
			}
		}
		out = append(out, q)
	}
	return out
}

// flatten returns the text in a content field, which is a string or a list of blocks.
func flatten(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text    string
		Content json.RawMessage
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		parts = append(parts, b.Text, flatten(b.Content))
	}
	return strings.Join(parts, "\n")
}

// streams returns the files that contain the output of the clients, one file per process.
func (p *project) streams() []string {
	p.t.Helper()
	files, err := filepath.Glob(filepath.Join(p.dir, ".claude-swarm/turns/*.jsonl"))
	if err != nil {
		p.t.Fatal(err)
	}
	return files
}

// marked lists the processes whose environment marks them as part of one of this
// project's turns.
func (p *project) marked() []string {
	p.t.Helper()
	var out []string
	entries, err := os.ReadDir("/proc")
	if err != nil {
		p.t.Fatal(err)
	}
	for _, e := range entries {
		environ, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil || !bytes.Contains(environ, []byte("CLAUDE_SWARM_DIR="+p.dir)) || !bytes.Contains(environ, []byte("CLAUDE_SWARM_TURN=")) {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		out = append(out, fmt.Sprintf("%s %s", e.Name(), bytes.ReplaceAll(cmdline, []byte{0}, []byte(" "))))
	}
	return out
}

// filed reports whether an agent's message is in done/ or dead/.
func (p *project) filed(agent, state, id string) bool {
	for _, pattern := range []string{"*" + id + ".md", "*/*" + id + ".md"} {
		if found, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop", agent, state, pattern)); len(found) > 0 {
			return true
		}
	}
	return false
}
