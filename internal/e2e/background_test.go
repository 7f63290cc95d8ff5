package e2e_test

import (
	"strings"
	"testing"
)

// A sub-agent runs for longer than the time that a client has to exit after its result.
// The model still gets the sub-agent's result, and the answer contains it, whether the
// client waits in the tool call or starts another turn when the sub-agent ends. The
// sub-agent's cost is booked.
func TestASubAgentEndsBeforeItsTurn(t *testing.T) {
	t.Parallel()
	for _, background := range []string{"false", "true"} {
		t.Run("background "+background, func(t *testing.T) {
			t.Parallel()
			scenario := `{"replies":[` +
				priced(`"name":"delegate","match":{"last_user_contains":"Find it"},"content":[{"tool_use":{"name":"Agent","input":{"description":"Look","prompt":"Look for it closely","subagent_type":"general-purpose"}}}]`, 5, 1, 10) + `,` +
				priced(`"name":"helper","match":{"last_user_contains":"Look for it closely"},"text":"It lies under the stone.","delay_ms":15000`, 8, 3, 0) + `,` +
				priced(`"name":"filler","match":{"tool_result_contains":"launched"},"text":"I have started a helper and wait for it."`, 6, 1, 20) + `,` +
				priced(`"name":"told","match":{"any_contains":"under the stone"},"text":"The helper found it under the stone."`, 7, 1, 30) + `],` + freeSide + `}`
			p := newProject(t, scenario, "  coder:\n    role: coder\n    linger: 10m\n    background: "+background+"\n")
			p.start()
			r := p.receipt("coder", p.send("coder", "Find it"))
			if r.Outcome != "done" || r.Text != "The helper found it under the stone." || len(r.Attempts) != 1 {
				t.Errorf("receipt = %+v", r)
			}
			answered := p.api.Stats().Answered
			if answered["helper"] != 1 || answered["told"] != 1 || background == "false" && answered["filler"] != 0 {
				t.Errorf("the model was asked for %v", answered)
			}
			p.idle()
			p.checkCosts(p.spent(usageOf(t, scenario)), true)
			if left := p.marked(); answered["filler"] == 1 && len(left) > 0 {
				t.Errorf("a client that went on by itself waits for another turn: %v", left)
			}
		})
	}
}

// If background work is allowed, the turn waits for a background command. The text that
// the model writes when the command ends is part of the answer.
func TestACommandInTheBackgroundEndsBeforeItsTurn(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"job","match":{"last_user_contains":"Build it"},"content":[{"tool_use":{"name":"Bash","input":{"command":"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do sleep 1; done; echo yes > built","description":"Build","run_in_background":true}}}]},
		{"name":"began","match":{"last_is_tool_result":true},"times":1,"text":"It is being built."},
		{"name":"rest","times":-1,"text":"It is built."}]}`, "  coder:\n    role: coder\n    background: true\n")
	p.start()
	r := p.receipt("coder", p.send("coder", "Build it"))
	if p.read("built") == "" || !strings.HasPrefix(r.Text, "It is being built.") || !strings.HasSuffix(r.Text, "It is built.") {
		t.Errorf("built: %q, receipt = %+v", p.read("built"), r)
	}
}
