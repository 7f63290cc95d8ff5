package swarm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// golden compares got with a file in testdata; with UPDATE=1 it rewrites the file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

func TestSystemTextGolden(t *testing.T) {
	all := []Spec{
		{Name: "coder", AgentSettings: AgentSettings{Role: "coder", Zone: "internal/…"}},
		{Name: "reviewer", AgentSettings: AgentSettings{Role: "reviewer", Zone: "Code review"}},
		{Name: "tester"},
	}
	all[0].Client.System = "You are coder.\n"
	golden(t, "prompt/system.txt", systemText(all[0], Plan{Agents: all}, "/home/dev/project/.dead-drop/coder"))
	golden(t, "prompt/system-led.txt", systemText(all[0], Plan{Agents: all, Names: mail.Names{Lead: "reviewer"}}, "/home/dev/project/.dead-drop/coder"))
	golden(t, "prompt/system-lead.txt", systemText(all[1], Plan{Agents: all, Names: mail.Names{Lead: "reviewer"}}, "/home/dev/project/.dead-drop/reviewer"))
	golden(t, "prompt/system-irc.txt", systemText(all[1], Plan{Agents: all, Names: mail.Names{Lead: "reviewer"}, IRC: "#project-x"}, "/home/dev/project/.dead-drop/reviewer"))
	all[0].Channels = []string{"#api", "#local"}
	golden(t, "prompt/system-channels.txt", systemText(all[0], Plan{Agents: all, IRC: "#project-x"}, "/home/dev/project/.dead-drop/coder"))
	all[0].Channels, all[0].Tools = nil, true
	golden(t, "prompt/system-tools.txt", systemText(all[0], Plan{Agents: all}, "/home/dev/project/.dead-drop/coder"))
	all[2].Tags = []string{"go", "docs"}
	golden(t, "prompt/system-tags.txt", systemText(all[0], Plan{Agents: all}, "/home/dev/project/.dead-drop/coder"))
	named := systemText(all[0], Plan{Agents: all, Names: mail.Names{LeadName: "opus-orange"}}, "/home/dev/project/.dead-drop/coder")
	if want := "opus-orange is the person who steers; ask opus-orange when"; !strings.Contains(named, want) || strings.Contains(named, "\nlead is") {
		t.Errorf("the text does not call a lead with a name by that name alone:\n%s", named)
	}
	for _, tools := range []bool{true, false} {
		s := all[0]
		s.Tools = tools
		how := map[bool]string{true: "compact_context", false: "claude-swarm compact coder"}[tools]
		for _, want := range []string{"Think deeper", how} {
			if text := systemText(s, Plan{Agents: all}, "/x"); !strings.Contains(text, want) {
				t.Errorf("with tools %v the text does not say %q:\n%s", tools, want, text)
			}
		}
	}
}
