package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The real client finds and lists the skill that init --skill creates.
func TestTheSkillIsListed(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`, "  coder: {role: coder}\n")
	p.swarm("init", "--skill")
	p.start()
	p.receipt("coder", p.send("coder", "Work"))
	streams, err := filepath.Glob(filepath.Join(p.dir, ".claude-swarm", "turns", "*.jsonl"))
	if err != nil || len(streams) != 1 {
		t.Fatalf("streams %q (%v), want one", streams, err)
	}
	stream, err := os.ReadFile(streams[0])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(stream)) {
		var e struct {
			Type, Subtype string
			Skills        []string
		}
		if json.Unmarshal([]byte(line), &e) != nil || e.Type != "system" || e.Subtype != "init" {
			continue
		}
		if !slices.Contains(e.Skills, "swarm") {
			t.Errorf("the client lists the skills %q, want swarm among them", e.Skills)
		}
		return
	}
	t.Error("the stream has no init line")
}
