package e2e_test

import "testing"

// If a turn starts a sub-agent, the turn's message is done only after the sub-agent has
// ended and the model has reported its result. The session gets the next message only
// after that. The client can either wait for the sub-agent in the tool call, as 2.1.197
// does, or continue and start another turn when the sub-agent ends.
func TestAnAttachedSessionWaitsForItsSubAgent(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"delegate","match":{"last_user_contains":"Find it"},"content":[{"tool_use":{"name":"Agent","input":{"description":"Look","prompt":"Look for it closely","subagent_type":"general-purpose"}}}]},
		{"name":"helper","match":{"last_user_contains":"Look for it closely"},"text":"It lies under the stone.","delay_ms":4000},
		{"name":"filler","match":{"tool_result_contains":"launched"},"text":"I have started a helper and wait for it."},
		{"name":"drained","match":{"last_user_contains":"What is six times seven?"},"text":"It is forty-two."},
		{"name":"told","match":{"any_contains":"under the stone"},"text":"The helper found it under the stone."},
		{"name":"hello","match":{"last_user_contains":"Hello"},"text":"Hello to you."},
		{"name":"rest","times":-1,"text":"Nothing to do."}]}`, "  ada: {attached: true}\n")
	p.swarm("init")
	p.swarm("attach")
	first := p.send("ada", "Find it")
	second := p.send("ada", "What is six times seven?")
	s := p.session("out.jsonl")
	s.types("Hello")
	s.asked("drained")
	s.close()
	for id, want := range map[string]string{first: "The helper found it under the stone.", second: "It is forty-two."} {
		if r := p.receipt("ada", id); r.Outcome != "done" || r.Text != want || len(r.Attempts) != 1 {
			t.Errorf("receipt = %+v, want %q", r, want)
		}
	}
	if n := p.status().Lead.Unread; n != 2 {
		t.Errorf("the senders got %d answers, want 2", n)
	}
}
