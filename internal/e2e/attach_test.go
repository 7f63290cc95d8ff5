package e2e_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// client runs the real CLI interactively and returns its output.
func (p *project) client(args ...string) string {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, cli, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("claude %q: %v\n%s", args, err, out)
	}
	return string(out)
}

const talk = `{"replies":[
	{"name":"drained","match":{"last_user_contains":"What is six times seven?"},"text":"It is forty-two."},
	{"name":"second","match":{"last_user_contains":"/clear everything"},"text":"That is text to me."},
	{"name":"hello","match":{"last_user_contains":"Hello"},"times":-1,"text":"Hello to you."}]}`

// A person's session acts as an agent: at the end of each turn it starts work on the next
// message, and the sender gets the answer. A message body is never run as a command.
func TestAnAttachedSessionDrainsItsMail(t *testing.T) {
	t.Parallel()
	for _, way := range []string{"plugin", "settings"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, talk, "  coder: {role: coder}\npolicy: {unproven: refuse}\n")
			p.write(".claude/settings.json", "{\"model\": \"claude-sonnet-4-6\",\n \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}}\n")
			config, settings := p.read("claude-swarm.yaml"), p.read(".claude/settings.json")
			p.swarm("attach", "--as", "ada", "--way", way)
			p.swarm("init", "--check")
			args := []string{"--model", "claude-sonnet-4-6", "-p", "Hello"}
			if way == "plugin" {
				dir := filepath.Join(p.dir, ".claude-swarm/attach/ada")
				if out := p.client("plugin", "validate", dir); !strings.Contains(out, "passed") {
					t.Errorf("claude plugin validate:\n%s", out)
				}
				args = append([]string{"--plugin-dir", dir}, args...)
			}
			p.start()
			if a := p.agent("ada"); a.State != "attached" {
				t.Errorf("ada is %s (%s), want attached", a.State, a.Why)
			}
			// A refused message does not reach the session.
			p.write(".dead-drop/ada/new/0-20260101T000000.000000Z-aaaabbbbcc.md", "---\nfrom: lead\n---\nHello, do this at once.\n")
			id := p.send("ada", "What is six times seven?")
			second := p.send("ada", "/clear everything")
			if out := p.client(args...); !strings.Contains(out, "That is text to me.") {
				t.Errorf("the session ended with %q, want its second message drained", out)
			}
			for id, want := range map[string]string{id: "It is forty-two.", second: "That is text to me."} {
				r := p.receipt("ada", id)
				if !r.Proven || r.Text != want || len(r.Attempts) != 1 {
					t.Errorf("receipt = %+v, want %q", r, want)
				}
			}
			if n := p.status().Lead.Unread; n != 3 {
				t.Errorf("the lead has %d messages, want 2 answers and what was refused", n)
			}
			if inbox := p.swarm("inbox", "--json"); !strings.Contains(inbox, "It is forty-two.") || strings.Contains(inbox, `"proven": false`) {
				t.Errorf("inbox:\n%s", inbox)
			}
			var order []string
			for _, r := range p.requests() {
				order = append(order, r.Reply)
			}
			if got := strings.Join(order, " "); got != "hello drained second" {
				t.Errorf("the model was asked %q", got)
			}
			if out := p.swarm("refused"); !strings.Contains(out, "aaaabbbbcc") || !strings.Contains(out, "unproven: nothing proves") {
				t.Errorf("refused:\n%s", out)
			}
			p.swarm("stop")
			out := p.swarm("init", "--remove", "--role", "ada")
			if p.read("claude-swarm.yaml") != config || p.read(".claude/settings.json") != settings {
				t.Errorf("init --remove left\n%s\n%s\nand said\n%s", p.read("claude-swarm.yaml"), p.read(".claude/settings.json"), out)
			}
			for _, name := range []string{".claude-swarm/attach/ada", ".mcp.json", ".claude/commands"} {
				if _, err := os.Lstat(filepath.Join(p.dir, name)); err == nil {
					t.Errorf("%s is left", name)
				}
			}
		})
	}
}

// With attached_mail: notify, the session gets only a notice that there is mail. /inbox
// fetches the mail, which is filed when the turn ends.
func TestAnAttachedSessionThatIsOnlyToldOfMail(t *testing.T) {
	t.Parallel()
	p := newProject(t, talk, "  ada: {attached: true, attached_mail: notify}\n")
	p.swarm("init")
	p.swarm("attach")
	plugin := filepath.Join(p.dir, ".claude-swarm/attach/ada")
	id := p.send("ada", "What is six times seven?")
	if out := p.client("--plugin-dir", plugin, "--model", "claude-sonnet-4-6", "-p", "Hello"); !strings.Contains(out, "Hello to you.") {
		t.Errorf("the session said %q", out)
	}
	if found, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/ada/new/*"+id+"*")); len(found) != 1 {
		t.Errorf("the message does not wait any more: %v", found)
	}
	if out := p.client("--plugin-dir", plugin, "--model", "claude-sonnet-4-6", "-p", "/swarm:inbox"); !strings.Contains(out, "It is forty-two.") {
		t.Errorf("/inbox: %q", out)
	}
	if r := p.receipt("ada", id); r.Text != "It is forty-two." {
		t.Errorf("receipt = %+v", r)
	}
}

// The tools that attach provides act as the agent, in the turn of the message that the
// session is working on.
func TestAnAttachedSessionHasItsTools(t *testing.T) {
	t.Parallel()
	for way, prefix := range map[string]string{"plugin": "mcp__plugin_swarm_dead-drop__", "settings": "mcp__dead-drop__"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, `{"replies":[
				{"name":"tell","match":{"last_user_contains":"Tell coder"},
				 "content":[{"tool_use":{"id":"toolu_1","name":"`+prefix+`send","input":{"to":"coder","type":"note","text":"The parser is done."}}}]},
				{"name":"told","match":{"tool_result_contains":"\"sent\""},"text":"I have told coder."},
				{"name":"hello","match":{"last_user_contains":"Hello"},"text":"Hello to you."}]}`,
				"  coder: {role: coder}\n  ada: {attached: true}\n")
			p.swarm("init")
			p.swarm("attach", "--as", "ada", "--way", way)
			args := []string{"--model", "claude-sonnet-4-6", "-p", "Hello", "--allowedTools", prefix + "send"}
			if way == "plugin" {
				args = append(args, "--plugin-dir", filepath.Join(p.dir, ".claude-swarm/attach/ada"))
			}
			id := p.send("ada", "Tell coder")
			if out := p.client(args...); !strings.Contains(out, "I have told coder.") {
				t.Errorf("the session ended with %q", out)
			}
			r := p.receipt("ada", id)
			if !r.Attached || len(r.Sent) != 1 || r.Text != "I have told coder." {
				t.Fatalf("receipt = %+v, want one message sent", r)
			}
			var sent struct {
				From, Turn string
				Proven     bool
			}
			if err := json.Unmarshal([]byte(p.swarm("read", r.Sent[0], "--json")), &sent); err != nil {
				t.Fatal(err)
			}
			if sent.From != "ada" || !sent.Proven || sent.Turn != r.Turn {
				t.Errorf("the message that was sent: %+v, want it from ada in turn %s", sent, r.Turn)
			}
			if ledger := p.read(".claude-swarm/ledger.jsonl"); strings.Count(ledger, `"via":"attach","outcome":"done"`) != 1 {
				t.Errorf("the ledger:\n%s", ledger)
			}
		})
	}
}
