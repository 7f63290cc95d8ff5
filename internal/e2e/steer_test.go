package e2e_test

import (
	"strings"
	"testing"
)

// An urgent message arrives inside a running Bash turn of the real client, is
// answered by the same result, and costs no turn of its own.
func TestAnUrgentMessageArrivesInsideABashTurn(t *testing.T) {
	p := newProject(t, `{"replies":[
		{"name":"bash","match":{"last_user_contains":"the long task"},"times":1,"content":[{"tool_use":{"name":"Bash","input":{"command":"for i in 1 2 3 4 5; do sleep 1; done"}}}]},
		{"name":"with","match":{"tool_result_contains":"leave main.go alone"},"text":"Did both."},
		{"name":"without","match":{"last_is_tool_result":true},"text":"Did the task."}]}`, pair)
	p.start()
	task := p.send("coder", "Do the long task")
	p.until("Bash runs", func() bool { return strings.Contains(p.swarm("logs", "coder"), "$ Bash for i in") })
	now := p.send("coder", "leave main.go alone", "--now")
	p.until("both are answered", func() bool { return p.status().Lead.Unread == 2 })
	if r := p.receipt("coder", now); r.Into != task || !strings.Contains(r.Text, "Did both.") {
		t.Errorf("receipt = %+v", r)
	}
	reqs := p.requests()
	if len(reqs) != 2 || reqs[1].Reply != "with" {
		t.Errorf("the model was asked %d times, want twice, with the message in the second", len(reqs))
	}
}
