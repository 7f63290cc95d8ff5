package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// The person's own settings keep the client from working: a hook refuses the prompt, in a new
// client and in one that waits, or the client cannot read its settings. No message is filed as
// done or given up. The agent stops, says why, and does the message when it is started after
// the repair.
func TestThePersonsSettings(t *testing.T) {
	t.Parallel()
	const script = `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`
	hook := func(command string) string {
		return `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"` + command + `"}]}]}}`
	}
	for name, c := range map[string]struct {
		agents, file, text, why string
	}{
		"a hook blocks":        {"  coder:\n    role: coder\n", ".claude/settings.json", hook(`echo no prompts on Sundays >&2; exit 2`), "no prompts on Sundays"},
		"a hook stops":         {"  coder:\n    role: coder\n", ".claude/settings.json", hook(`echo '{\"continue\":false,\"stopReason\":\"no prompts on Sundays\"}'`), "no prompts on Sundays"},
		"a hook, warm client":  {lingering, ".claude/settings.json", hook(`test ! -e off || { echo no prompts on Sundays >&2; exit 2; }`), "no prompts on Sundays"},
		"damaged .claude.json": {"  coder:\n    role: coder\n", ".claude.json", `{"a":`, ".claude.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, script, c.agents)
			path := filepath.Join(p.home, c.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			p.start()
			if c.agents == lingering {
				p.receipt("coder", p.send("coder", "First task"))
				p.warm("coder")
				p.write("off", "")
			}
			id := p.send("coder", "Do it")
			if strings.Contains(cli, claude.Oldest) && c.file == ".claude.json" {
				p.receipt("coder", id) // 2.1.197 replaces a damaged .claude.json, so its next client works
				return
			}
			p.until("the agent has stopped", func() bool { return p.agent("coder").State == swarm.Stopped })
			if st := p.agent("coder"); !strings.Contains(st.Why, c.why) || st.Dead > 0 || !strings.HasSuffix(st.Next, "claude-swarm start coder") {
				t.Errorf("why %q, next %q, %d dead", st.Why, st.Next, st.Dead)
			}
			if before == nil {
				before = []byte("{}")
			}
			if err := os.WriteFile(path, before, 0o600); err != nil {
				t.Fatal(err)
			}
			p.swarm("start", "coder")
			p.receipt("coder", id)
		})
	}
}
