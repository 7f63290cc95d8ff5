package acp

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// If a turn times out while the client is retrying the model, the cause is the service,
// unless the model has answered again since.
func TestLateAfterARetry(t *testing.T) {
	const (
		retry = `{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting... 1/5","codexErrorInfo":{"responseStreamDisconnected":{"httpStatusCode":503}}}}}}`
		chunk = `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I look at it."}}`
	)
	for name, c := range map[string]struct {
		updates []string
		want    runner.End
	}{
		"while it retries":             {[]string{chunk, retry}, runner.Limited},
		"after it has answered":        {[]string{retry, chunk}, runner.TimedOut},
		"after a call":                 {[]string{retry, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"ls","kind":"execute"}`}, runner.TimedOut},
		"with the size of the context": {[]string{retry, `{"sessionUpdate":"usage_update","used":100,"size":200}`}, runner.Limited},
	} {
		t.Run(name, func(t *testing.T) {
			e := &exchange{stream: stream{client: &Client{}, emit: func(*streamjson.Event) {}}}
			for _, line := range c.updates {
				var u update
				if err := json.Unmarshal([]byte(line), &u); err != nil {
					t.Fatal(err)
				}
				e.stream.observe(&u, []byte(line))
			}
			if got := e.Late(follow.Verdict{End: runner.TimedOut, Reason: time.Minute.String()}); got.End != c.want {
				t.Errorf("the turn ended %s (%s), want %s", got.End, got.Reason, c.want)
			}
		})
	}
}

// In both versions of the protocol, the updates of a waiting client show whether it has
// begun to work.
func TestWork(t *testing.T) {
	for kind, want := range map[string]bool{
		"agent_message_chunk": true, "agent_message": true, "agent_thought": true, "tool_call_content_chunk": true, "plan": true,
		"usage_update": false, "session_info_update": false, "available_commands_update": false, "user_message_chunk": false,
	} {
		m, ok := parse([]byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"` + kind + `"}}}`))
		if !ok || works(&m) != want {
			t.Errorf("an update %s shows work: %v, want %v", kind, !want, want)
		}
	}
}
