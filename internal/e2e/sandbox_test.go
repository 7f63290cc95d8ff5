package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// An agent whose client runs in the sandbox of examples/sandbox keeps its session, uses its
// tools, sends mail from a shell, and asks a question whose answer reaches it. It sees
// neither the person's other files nor other processes, and it cannot change the settings
// or the daemon's files.
func TestAnAgentInASandbox(t *testing.T) {
	t.Parallel()
	sandbox := need.Bubblewrap(t)
	const shell = `{"tool_use":{"name":"Bash","input":{"command":"`
	p := newProject(t, `{"replies":[
		{"name":"look","times":1,"match":{"last_user_contains":"LOOK"},"content":[`+shell+`sh probe.sh"}}}]},
		{"name":"send","times":1,"match":{"tool_result_contains":"looked"},"content":[`+shell+`claude-swarm send lead 'Sent from the sandbox'; claude-swarm reload 2>&1; echo sent"}}}]},
		{"name":"ask","times":1,"match":{"tool_result_contains":"sent"},"content":[{"tool_use":{"name":"mcp__dead-drop__ask","input":{"to":"lead","text":"Tabs or spaces?","timeout":120}}}]},
		{"name":"asked","times":1,"match":{"tool_result_contains":"tabs, please"},"text":"It is tabs."},
		{"name":"rest","times":-1,"text":"Done."}]}`, "")
	script, err := os.ReadFile("../../examples/sandbox/in-sandbox")
	if err != nil {
		t.Fatal(err)
	}
	p.write("in-sandbox", string(script))
	if err := os.Chmod(filepath.Join(p.dir, "in-sandbox"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := "debounce: 300ms\nagents:\n  coder: {role: coder, command: ./in-sandbox claude, model: claude-sonnet-4-6, retry_delay: 300ms}\n"
	p.write("claude-swarm.yaml", config)
	p.write("probe.sh", `cat ~/secret ../home/secret
echo changed >>claude-swarm.yaml
echo changed >>in-sandbox
echo changed >>.claude-swarm/ledger.jsonl
echo "$(ls -d /proc/[0-9]* | wc -l) processes"
pwd >by-coder.txt
echo looked
`)
	for name, text := range map[string]string{"secret": "the key of a person\n", ".claude.json": "{}\n"} {
		if err := os.WriteFile(filepath.Join(p.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.env[0] = "PATH=" + sandbox + ":" + filepath.Dir(program) + ":" + strings.TrimPrefix(p.env[0], "PATH=")
	p.start()

	id := p.send("coder", "LOOK around")
	p.until("the question", func() bool { return p.told("Tabs or spaces?") == 1 })
	p.swarm("reply", "tabs, please")
	if r := p.receipt("coder", id); r.Outcome != "done" || r.Text != "It is tabs." || len(r.Sent) != 2 {
		t.Errorf("receipt = %+v", r)
	}
	if out := p.swarm("inbox", "--json"); !strings.Contains(out, "Sent from the sandbox") || strings.Contains(out, `"proven": false`) {
		t.Errorf("the mail from the shell is missing, or its sender is not proven:\n%s", out)
	}
	session := p.agent("coder").Session
	if r := p.receipt("coder", p.send("coder", "One more.")); len(r.Attempts) != 1 || p.agent("coder").Session != session {
		t.Errorf("the session did not survive the sandbox: %+v", r)
	}

	var seen, sent string
	for _, q := range p.requests() {
		switch q.Reply {
		case "send":
			seen = q.LastUser
		case "ask":
			sent = q.LastUser
		}
	}
	if n := strings.Count(seen, "Read-only file system"); n != 3 || strings.Contains(seen, "key of a person") || !strings.Contains(seen, "looked") {
		t.Errorf("%d of 3 files were read-only:\n%s", n, seen)
	}
	if !strings.Contains(sent, "only the lead may") {
		t.Errorf("a verb for people is not refused:\n%s", sent)
	}
	if got := p.read("by-coder.txt"); got != p.dir+"\n" {
		t.Errorf("coder worked in %q, want %s", got, p.dir)
	}
	if p.read("claude-swarm.yaml") != config {
		t.Error("the settings have changed")
	}
	p.swarm("stop")
	if left := p.marked(); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
