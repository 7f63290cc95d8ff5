package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A nativeAgent is a session that Claude Code itself runs in the background, as claude agents
// lists it.
type nativeAgent struct {
	ID  string
	PID int
}

// native starts a background agent of Claude Code in the project, as a person would, and
// waits until the model has answered it.
func (p *project) native(args ...string) nativeAgent {
	p.t.Helper()
	p.trust()
	out := p.client(append(args, "--model", "claude-sonnet-4-6", "--bg", "Do the native work")...)
	id := regexp.MustCompile(`backgrounded · ([0-9a-f]+)`).FindStringSubmatch(out)
	if id == nil {
		p.t.Fatalf("claude --bg said %q", out)
	}
	p.answered("native")
	for _, a := range p.natives() {
		if a.ID == id[1] {
			return a
		}
	}
	p.t.Fatalf("claude agents does not list %s: %+v", id[1], p.natives())
	return nativeAgent{}
}

// trust makes Claude Code trust the project's folder, without which it starts no background
// agents there, and stops its background service at the end of the test. If the version cannot
// stop background agents, as 2.1.197, the test is skipped.
func (p *project) trust() {
	p.t.Helper()
	if !strings.Contains(p.client("--help"), "stop|kill") {
		p.t.Skip("this version of Claude Code has no verbs for background agents")
	}
	trusted, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "customApiKeyResponses": map[string]any{"approved": []string{"sk-ant-test-0000"}},
		"projects": map[string]any{p.dir: map[string]any{"hasTrustDialogAccepted": true, "enabledMcpjsonServers": []string{"dead-drop"}}},
	})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home, ".claude.json"), trusted, 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() {
		cmd := exec.Command(cli, "daemon", "stop", "--any")
		cmd.Dir, cmd.Env = p.dir, p.env
		_ = cmd.Run() // fails if the test has stopped it
	})
}

// natives returns the background agents that claude agents lists.
func (p *project) natives() (all []nativeAgent) {
	p.t.Helper()
	var listed []struct {
		nativeAgent
		Kind string
	}
	if err := json.Unmarshal([]byte(p.client("agents", "--json")), &listed); err != nil {
		p.t.Fatal(err)
	}
	for _, a := range listed {
		if a.Kind == "background" {
			all = append(all, a.nativeAgent)
		}
	}
	return all
}

// answered waits until the model has got the request of the named reply.
func (p *project) answered(reply string) {
	p.t.Helper()
	p.until("the request "+reply, func() bool {
		return slices.ContainsFunc(p.requests(), func(r turnRequest) bool { return r.Reply == reply })
	})
}

// runs reports whether a background agent's process is running.
func (a nativeAgent) runs() bool {
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", a.PID))
	return err == nil && bytes.Contains(cmdline, []byte("claude"))
}

const besideScript = `{"replies":[
	{"name":"native","match":{"last_user_contains":"Do the native work"},"delay_ms":1500,"text":"The native work is done."},
	{"name":"first","match":{"last_user_contains":"Do the first task"},"delay_ms":1500,"text":"The first task is done."},
	{"name":"second","match":{"last_user_contains":"Do the second task"},"delay_ms":60000,"text":"too late"},
	{"name":"third","match":{"last_user_contains":"Do the third task"},"delay_ms":6000,"text":"The third task is done."},
	{"name":"rest","times":-1,"text":"Rest."}]}`

// A background agent of Claude Code works beside the swarm in the same project. Each does its
// own work; the swarm ends none of the other's processes, and the other way round.
func TestABackgroundAgentBesideTheSwarm(t *testing.T) {
	t.Parallel()
	p := newProject(t, besideScript, "  coder: {role: coder}\n")
	p.start()
	first := p.send("coder", "Do the first task")
	native := p.native()
	if r := p.receipt("coder", first); r.Text != "The first task is done." || len(r.Attempts) != 1 {
		t.Errorf("receipt = %+v", r)
	}
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", native.PID))
	if err != nil || bytes.Contains(environ, []byte("CLAUDE_SWARM_")) {
		t.Errorf("the background agent has marks of the swarm (%v)", err)
	}

	// The swarm sees nothing of it.
	if a := p.agent("coder"); a.TurnCount != 1 {
		t.Errorf("coder has begun %d turns, want 1", a.TurnCount)
	}
	if n := strings.Count(p.read(".claude-swarm/ledger.jsonl"), "\n"); n != 1 {
		t.Errorf("the ledger has %d lines, want that of the first task", n)
	}

	// The end of a turn and the end of the daemon end only processes of turns.
	second := p.send("coder", "Do the second task")
	p.answered("second")
	p.swarm("abort", "coder")
	p.until("the aborted message is given up", func() bool { return p.filed("coder", "dead", second) })
	p.swarm("stop", "--now")
	p.until("the processes of the turn have ended", func() bool { return len(p.marked()) == 0 })
	if !native.runs() {
		t.Error("the swarm has ended the background agent")
	}

	// Stopping the background agents does not touch a turn.
	p.start()
	third := p.send("coder", "Do the third task")
	p.answered("third")
	p.client("stop", native.ID)
	p.client("daemon", "stop", "--any")
	if r := p.receipt("coder", third); r.Text != "The third task is done." || len(r.Attempts) != 1 {
		t.Errorf("receipt = %+v", r)
	}
	if native.runs() {
		t.Error("the background agent still runs")
	}
	if unread := p.status().Lead.Unread; unread != 3 {
		t.Errorf("the lead has %d messages, want two answers and what was aborted", unread)
	}
}

// A background agent that an agent starts in its turn ends with the turn.
func TestABackgroundAgentOfATurnEndsWithIt(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"native","match":{"last_user_contains":"Do the native work"},"times":-1,"delay_ms":60000,"text":"too late"},
		{"name":"begin","match":{"last_user_contains":"Start one"},"content":[{"tool_use":{"id":"toolu_1","name":"Bash","input":{"command":"claude --model claude-sonnet-4-6 --bg 'Do the native work'; for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; test -n \"$(claude agents --json | grep working)\" && break; done"}}}]},
		{"name":"end","match":{"tool_result_contains":"backgrounded"},"text":"It has begun."},
		{"name":"rest","times":-1,"text":"{{tool_result}}"}]}`, "  coder: {role: coder, allowed_tools: [Bash]}\n")
	p.trust()
	p.start()
	id := p.send("coder", "Start one")
	if r := p.receipt("coder", id); r.Text != "It has begun." {
		t.Errorf("receipt = %+v", r)
	}
	p.until("what the turn started has ended", func() bool { return len(p.marked()) == 0 })
	// The client lists an agent for a while after its process was killed, without a process.
	for _, left := range p.natives() {
		if left.runs() {
			t.Errorf("still running: %+v", left)
		}
	}
}

// The hooks of attach --way settings also apply to a background agent in that folder: it becomes
// the attached agent if no other session is. With the plugin it does not.
func TestABackgroundAgentWhereASessionIsAttached(t *testing.T) {
	t.Parallel()
	for way, binds := range map[string]bool{"settings": true, "plugin": false} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, besideScript, "  ada: {attached: true}\n")
			p.swarm("init")
			p.swarm("attach", "ada", "--way", way)
			id := p.send("ada", "Do the first task")
			native := p.native()
			if !binds {
				p.client("stop", native.ID)
				if found, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/ada/new/*"+id+"*")); len(found) != 1 {
					t.Errorf("the message does not wait any more: %v", found)
				}
				return
			}
			if r := p.receipt("ada", id); r.Text != "The first task is done." {
				t.Errorf("receipt = %+v", r)
			}
		})
	}
}
