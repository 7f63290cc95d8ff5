package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// An urgent message arrives while the real client is running Bash in a turn. The result
// of that turn also answers the message, which needs no separate turn.
func TestAnUrgentMessageArrivesInsideABashTurn(t *testing.T) {
	t.Parallel()
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

// A turn is aborted while its client is sending the first request to the model. The turn
// counts as done only if the abort command says so, and the trace and the dead letters
// agree with the command.
func TestAbortAtTheFirstRequest(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"bash","times":-1,"match":{"last_user_contains":"the long task"},"delay_ms":1000,
		 "content":[{"tool_use":{"name":"Bash","input":{"command":"for i in 1 2 3 4 5 6; do sleep 1; done"}}}]},
		{"name":"rest","times":-1,"text":"Done."}]}`, "  coder: {session: fresh}\n")
	p.start()
	for range 5 {
		asked := len(p.requests())
		id := p.send("coder", "Do the long task")
		p.until("the first request", func() bool { return len(p.requests()) > asked })
		var cut struct{ Message, State string }
		if err := json.Unmarshal([]byte(p.swarm("abort", "coder", "--json")), &cut); err != nil {
			t.Fatal(err)
		}
		trace := p.swarm("trace", id)
		if cut.Message != id || strings.Contains(trace, "turn 1 done") != (cut.State == "done") {
			t.Errorf("abort says %+v, trace:\n%s", cut, trace)
		}
		if strings.Contains(p.swarm("dead"), id) != (cut.State == "dead") {
			t.Errorf("abort says %+v, dead:\n%s", cut, p.swarm("dead"))
		}
		if log := p.swarm("logs", "coder"); cut.State == "dead" && strings.Contains(log, id+"  $ Bash") {
			t.Errorf("a command began after the order:\n%s", log)
		}
	}
}
