package e2e_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// An agent that prints its environment and repeats its token does not leak the token: the
// receipt, answer, ledger, logs, window, mail sent with its tools, board and commits
// contain a placeholder instead of the token. Only the client's stream still contains the
// token.
func TestNoTokenIsWritten(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`, `  coder:
    role: coder
  rev:
    role: reviewer
`)
	p.write("claude-swarm.yaml", p.read("claude-swarm.yaml")+"audit: {git: true}\n")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = p.dir, p.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	git("init", "-q", ".")
	p.start()
	p.swarm("pause", "rev")
	tokens := map[string]string{}
	for line := range strings.Lines(p.read(".claude-swarm/tokens")) {
		if name, token, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			tokens[name] = token
		}
	}
	call := func(name, tool string, input map[string]any) map[string]any {
		match := map[string]any{"last_is_tool_result": true}
		if name == "env" {
			match = map[string]any{"last_user_contains": "What is your token"}
		}
		return map[string]any{"name": name, "match": match, "content": []any{map[string]any{
			"tool_use": map[string]any{"id": "toolu_" + name, "name": tool, "input": input},
		}}}
	}
	said := "My token is " + tokens["coder"] + " and that of the lead " + tokens["lead"] + "."
	script, err := json.Marshal(map[string]any{"replies": []any{
		call("env", "Bash", map[string]any{"command": "env; exit 3", "description": "look"}),
		call("send", "mcp__dead-drop__send", map[string]any{"to": "rev", "text": said, "subject": "a token " + tokens["coder"]}),
		call("shell", "Bash", map[string]any{"command": `claude-swarm send rev "$CLAUDE_SWARM_TOKEN"`, "description": "send"}),
		call("board", "mcp__dead-drop__board_write", map[string]any{"page": "status", "text": said}),
		map[string]any{"name": "rest", "text": said, "times": -1},
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.script(string(script))
	id := p.send("coder", "What is your token?")
	r := p.receipt("coder", id)
	if want := "My token is [token of coder] and that of the lead [token of lead]."; !strings.Contains(r.Text, want) || r.Answer == nil || !strings.Contains(r.Answer.Body, want) {
		t.Errorf("the receipt says %q, want %q", r.Text, want)
	}
	p.until("the audit", func() bool { return strings.Contains(p.branch(), id) })
	seen := 0
	look := func(where, text string) {
		for name, token := range tokens {
			if strings.Contains(text, token) {
				t.Errorf("the token of %s is in %s", name, where)
			}
		}
		seen += strings.Count(text, "[token of ")
	}
	for _, dir := range []string{".claude-swarm", ".dead-drop"} {
		err := filepath.WalkDir(filepath.Join(p.dir, dir), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return nil // the file may have been moved in the meantime
			}
			rel, _ := filepath.Rel(p.dir, path)
			data, err := os.ReadFile(path)
			if err != nil || rel == ".claude-swarm/tokens" || strings.HasPrefix(rel, ".claude-swarm/turns/") && strings.HasSuffix(rel, ".jsonl") {
				return nil
			}
			look(rel, string(data))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"history", "coder", "--json"}, {"logs", "coder"}, {"trace", id, "--json"}, {"inbox", "--json"}, {"inbox", "rev", "--json"}, {"status", "--json"}} {
		look(strings.Join(args, " "), p.swarm(args...))
	}
	look("the branch", git("log", "-p", "--all"))
	if seen < 10 {
		t.Errorf("%d marks, want more: nothing was said", seen)
	}
	if len(p.streams()) == 0 {
		t.Error("no stream is kept")
	}
}

// branch returns the log of the audit trail's branch.
func (p *project) branch() string {
	cmd := exec.Command("git", "log", "--format=%B", "dead-drop", "--")
	cmd.Dir, cmd.Env = p.dir, p.env
	out, _ := cmd.Output() // the branch may not exist at this point
	return string(out)
}
