package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An agent without a file-reading tool cannot send files that its tools cannot read, and
// cannot see another agent's mail, even though it is allowed to run `claude-swarm send` and
// `inbox`.
func TestARestrictedAgentSendsNoFileThatItCannotRead(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "secret.txt")
	commands := []string{
		"cat .claude-swarm/tokens",
		"claude-swarm send rev --file .claude-swarm/tokens",
		"claude-swarm send rev --file docs/../.claude-swarm/tokens",
		"claude-swarm send rev --file looks-harmless.md",
		"claude-swarm send rev look --attach " + outside,
		"claude-swarm reply ID --file .claude-swarm/tokens",
		"claude-swarm send rev --config .claude-swarm/tokens hello",
		"claude-swarm inbox lead",
		"claude-swarm send rev --file docs/plan.md",
	}
	p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`, `  coder:
    role: coder
    allowed_tools: "Glob"
  rev:
    role: reviewer
`)
	if err := os.WriteFile(outside, []byte("the secret of another folder\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.write("docs/plan.md", "the plan for everybody\n")
	if err := os.Symlink(filepath.Join(p.dir, ".claude-swarm", "tokens"), filepath.Join(p.dir, "looks-harmless.md")); err != nil {
		t.Fatal(err)
	}
	p.start()
	p.swarm("pause", "rev")
	p.swarm("send", "lead", "for the person alone", "--type", "note")
	type reply struct {
		Name    string           `json:"name"`
		Match   map[string]any   `json:"match,omitempty"`
		Content []map[string]any `json:"content,omitempty"`
		Text    string           `json:"text,omitempty"`
		Times   int              `json:"times,omitempty"`
	}
	first := p.send("coder", "Say hello")
	p.receipt("coder", first)
	var replies []reply
	for i, command := range commands {
		match := map[string]any{"last_is_tool_result": true}
		if i == 0 {
			match = map[string]any{"last_user_contains": "Try everything"}
		}
		id := string(rune('a' + i))
		replies = append(replies, reply{Name: "try-" + id, Match: match, Content: []map[string]any{{"tool_use": map[string]any{
			"id": "toolu_" + id, "name": "Bash", "input": map[string]any{"command": strings.ReplaceAll(command, "ID", first), "description": "try"},
		}}}})
	}
	replies = append(replies, reply{Name: "rest", Text: "Done.", Times: -1})
	script, err := json.Marshal(map[string]any{"replies": replies})
	if err != nil {
		t.Fatal(err)
	}
	p.script(string(script))
	r := p.receipt("coder", p.send("coder", "Try everything"))
	if len(r.Denied) != 1 {
		t.Errorf("the client denied %q, want only the cat: the rest must be the rule's doing", r.Denied)
	}
	said := map[string]string{} // maps each command to the text of the next request to the model
	for _, q := range p.requests() {
		if name, ok := strings.CutPrefix(q.Reply, "try-"); ok && name != "a" {
			said[commands[name[0]-'b']] = q.LastUser
		}
	}
	tokens := p.read(".claude-swarm/tokens")
	secrets := []string{"the secret of another folder", "for the person alone"}
	for line := range strings.Lines(tokens) {
		secrets = append(secrets, strings.Fields(line)[1])
	}
	mail := p.swarm("inbox", "rev", "--json") + p.swarm("inbox", "--json")
	for _, secret := range secrets[1:] {
		if secret != "for the person alone" && strings.Contains(mail, secret) {
			t.Errorf("a secret is in the mail:\n%s", mail)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/attach/*/*")); len(files) > 0 {
		t.Errorf("attached: %q, want nothing", files)
	}
	if !strings.Contains(mail, "the plan for everybody") {
		t.Errorf("a file of the working folder did not pass:\n%s", said)
	}
	for command, answer := range said {
		if slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(answer, s) }) {
			t.Errorf("%s said a secret:\n%s", command, answer)
		}
		if strings.HasPrefix(command, "claude-swarm") && !strings.Contains(answer, "try: ") {
			t.Errorf("%s said %q, want what is wrong and what to type", command, answer)
		}
	}
}
