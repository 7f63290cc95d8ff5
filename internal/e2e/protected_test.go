package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// oddFolders are names of project folders in which characters have a meaning in the
// client's patterns. The first ones run always: together, they contain every character of
// the others except the backslash. ODD=all runs all of them.
var oddFolders = []string{
	"plain", "a [slug] {b,c} (d) *?!#~ x", "e%20f 'g' \"h\" & $i `j` +k @l ,m\nn",
	"[...slug]", "[slug] app", `back\slash`, "work [2026]", "(group)", "{a,b}", "a*b", "a?b", "!a", "#a", "~a", "a b", "a  b ", "a'b", `a"b`, "a\nb", "a\tb", "a%b", "a$b", "ä ö",
	"@a", "a+b", "a|b", "a^b", "[[]]", "[!a]", "**",
}

// An agent's tools for files read neither the swarm's secrets nor change the files of the
// swarm, of git and of the client, regardless of the path of the project. They change every
// other file.
func TestNoToolTouchesProtectedFiles(t *testing.T) {
	folders := oddFolders[:3]
	if os.Getenv("ODD") == "all" {
		folders = oddFolders
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(folder, `\`) && os.Getenv("CLI") == "oldest" {
				t.Skip("2.1.197 does not start in a folder with a backslash in its name")
			}
			p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`, "  coder: {allowed_tools: \"Read,Glob,Grep,Edit,Write\"}\n  reader: {allowed_tools: Read}\n")
			odd := filepath.Join(filepath.Dir(p.dir), folder)
			if err := os.Rename(p.dir, odd); err != nil {
				t.Fatal(err)
			}
			p.dir = odd
			for _, dir := range []string{".git/hooks", "sub", ".dead-drop"} {
				if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(".git", filepath.Join(p.dir, "link")); err != nil {
				t.Fatal(err)
			}
			p.start()
			config := p.read("claude-swarm.yaml")
			secret := ""
			for line := range strings.Lines(p.read(".claude-swarm/tokens")) {
				if token, ok := strings.CutPrefix(line, "lead "); ok {
					secret = strings.TrimSpace(token)
				}
			}
			if secret == "" {
				t.Fatal("no token of the lead")
			}

			memory := filepath.Join(p.home, ".claude/projects/x/memory/MEMORY.md")
			var uses []map[string]any
			use := func(tool string, input map[string]any) {
				uses = append(uses, map[string]any{"tool_use": map[string]any{"id": fmt.Sprintf("toolu_%02d", len(uses)), "name": tool, "input": input}})
			}
			in := func(name string) string { return filepath.Join(p.dir, name) }
			use("Read", map[string]any{"file_path": in(".claude-swarm/tokens")})
			use("Grep", map[string]any{"pattern": "lead", "path": in(".claude-swarm"), "output_mode": "content"})
			use("Read", map[string]any{"file_path": in("claude-swarm.yaml")})
			use("Edit", map[string]any{"file_path": in("claude-swarm.yaml"), "old_string": "max_running: 2", "new_string": "max_running: 9"})
			denied := []string{
				in(".claude-swarm/new.json"), in(".dead-drop/coder/new/x.md"), in(".dead-drop/HALT"), in(".git/hooks/pre-commit"), in("sub/.git/config"), in("link/hooks/post-commit"),
				in(".claude/settings.json"), in(".claude/settings.local.json"), in(".claude/skills/x/SKILL.md"), in(".claude/agent-memory/x/MEMORY.md"), in(".mcp.json"), in(".codex/config.toml"),
				memory, filepath.Join(p.home, ".claude/agent-memory/x/MEMORY.md"), filepath.Join(p.home, ".claude/settings.json"), filepath.Join(p.home, ".codex/config.toml"),
			}
			for _, file := range denied {
				use("Write", map[string]any{"file_path": file, "content": "text of the agent\n"})
			}
			use("Write", map[string]any{"file_path": in("sub/open.txt"), "content": "text of the agent\n"})
			use("Read", map[string]any{"file_path": in("sub/read.txt")})
			p.write("sub/read.txt", "the neighbour stays readable\n")

			all, err := json.Marshal(map[string]any{"replies": []any{
				map[string]any{"name": "use", "match": map[string]any{"last_user_contains": "Use them all"}, "content": uses},
				map[string]any{"name": "rest", "text": "Done.", "times": -1},
			}})
			if err != nil {
				t.Fatal(err)
			}
			p.script(string(all))
			p.receipt("coder", p.send("coder", "Use them all."))
			if p.read("claude-swarm.yaml") != config {
				t.Error("the agent changed claude-swarm.yaml")
			}
			for _, file := range denied {
				if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), "text of the agent") {
					t.Errorf("the agent wrote %s", file)
				}
			}
			// In a folder such as a*b, the client itself allows no Write that nobody approves.
			if p.read("sub/open.txt") == "" && !strings.ContainsAny(folder, "*?") && !strings.HasSuffix(folder, " ") {
				t.Error("the agent could not write a file that is not protected")
			}
			text := ""
			for _, r := range p.requests() {
				text += r.All
			}
			if strings.Contains(text, secret) {
				t.Error("the lead's secret reached the model")
			}
			if !strings.Contains(text, "the neighbour stays readable") {
				t.Error("the agent could not read a file that is not protected")
			}

			// An agent that may only read writes nothing anywhere, not even its memory.
			p.script(fmt.Sprintf(`{"replies":[{"match":{"last_user_contains":"Remember"},"content":[
				{"tool_use":{"id":"toolu_m","name":"Write","input":{"file_path":%q,"content":"text of the agent\n"}}}]},{"times":-1,"text":"Done."}]}`, memory))
			p.receipt("reader", p.send("reader", "Remember it."))
			if last := p.requests()[len(p.requests())-1]; !strings.Contains(last.All, "toolu_m") {
				t.Error("the client did not call the tool")
			}
			if data, err := os.ReadFile(memory); err == nil {
				t.Errorf("an agent that may only read wrote its memory: %q", data)
			}
		})
	}
}
