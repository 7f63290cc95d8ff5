package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An agent that may do nothing but read asks another by its tools, which are there
// before the first prompt and need no permission.
func TestAnAgentSendsByItsTools(t *testing.T) {
	p := newProject(t, `{"replies":[
		{"name":"who","match":{"last_user_contains":"Who are you","tool_offered":"mcp__dead-drop__whoami"},
		 "content":[{"tool_use":{"id":"toolu_1","name":"mcp__dead-drop__whoami","input":{}}}]},
		{"name":"send","match":{"tool_result_contains":"\"name\":\"coder\""},
		 "content":[{"tool_use":{"id":"toolu_2","name":"mcp__dead-drop__send","input":{"to":"reviewer","text":"Please look at it","type":"question"}}}]},
		{"name":"sent","match":{"tool_result_contains":"\"to\":\"reviewer\""},"text":"I have asked reviewer."},
		{"name":"review","match":{"last_user_contains":"Please look at it"},"text":"It looks good."},
		{"name":"rest","times":-1,"text":"Done."}]}`, `  coder:
    role: coder
    zone: the parser
    allowed_tools: [Read]
  reviewer:
    role: reviewer
`)
	p.start()
	id := p.send("coder", "Who are you?")
	r := p.receipt("coder", id)
	if r.Outcome != "done" || len(r.Denied) > 0 || len(r.Sent) != 1 {
		t.Fatalf("receipt %+v, want one message sent and nothing denied", r)
	}
	asked := p.receipt("reviewer", r.Sent[0])
	if !asked.Proven {
		t.Error("the question was not proven to be from coder")
	}
	p.until("the answer", func() bool { // it comes in a turn of its own
		return slices.ContainsFunc(p.requests(), func(q turnRequest) bool { return strings.Contains(q.LastUser, "It looks good.") })
	})
	for _, q := range p.requests() {
		if q.Reply == "send" && (!strings.Contains(q.LastUser, `"zone":"the parser"`) || !strings.Contains(q.LastUser, `"id":"`+id+`"`)) {
			t.Errorf("whoami gave %s", q.LastUser)
		}
		if q.Reply == "who" && !strings.Contains(q.All, "mcp__"+runner.ToolServer+"__send") {
			t.Error("the first request does not offer the tools")
		}
	}
}
