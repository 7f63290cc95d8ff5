package e2e_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// The client's own task list becomes events, with the daemon and without it, and the hooks
// block none of the tasks.
func TestTheTaskListOfAnAttachedSession(t *testing.T) {
	t.Parallel()
	const script = `{"replies":[
		{"name":"create","match":{"last_user_contains":"Plan it"},"content":[
			{"tool_use":{"id":"toolu_1","name":"TaskCreate","input":{"subject":"Fix the parser","description":"It loses quotes.","activeForm":"Fixing the parser"}}}]},
		{"name":"complete","match":{"tool_result_contains":"Task #1 created"},"content":[
			{"tool_use":{"id":"toolu_2","name":"TaskUpdate","input":{"taskId":"1","status":"completed"}}}]},
		{"name":"end","match":{"tool_result_contains":"Updated task #1"},"text":"All planned."}]}`
	p := newProject(t, script, "  ada: {attached: true}\n")
	p.swarm("init")
	p.swarm("attach")
	for _, daemon := range []bool{true, false} {
		if daemon {
			p.start()
		}
		if out := p.client("--plugin-dir", filepath.Join(p.dir, ".claude-swarm/attach/ada"), "--model", "claude-sonnet-4-6", "-p", "Plan it"); !strings.Contains(out, "All planned.") {
			t.Errorf("the session said %q", out)
		}
		if daemon {
			p.swarm("stop")
			p.script(script)
		}
	}
	var got []string
	for line := range strings.Lines(p.swarm("events", "task_created", "task_completed", "--json")) {
		var ev struct {
			Kind, Agent string
			Message     struct{ Body string }
		}
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatal(err)
		}
		got = append(got, ev.Kind+" "+ev.Agent+" "+ev.Message.Body)
	}
	const text = " ada task 1: Fix the parser\n\nIt loses quotes.\n"
	want := strings.Repeat("task_created"+text+"|task_completed"+text+"|", 2)
	if strings.Join(got, "|")+"|" != want {
		t.Errorf("the events are %q", got)
	}
}
