package claude

import (
	"fmt"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The lines are those of 2.1.197 and 2.1.330, without the fields that do not matter; 2.1.332
// prints the same as 2.1.330. TestThePersonsSettings in internal/e2e runs the clients.
func TestThePersonsSettings(t *testing.T) {
	const (
		told   = `{"type":"system","subtype":"informational","content":%s,"level":"warning","prevent_continuation":true%s,"session_id":"s-1"}` + "\n"
		result = `{"type":"result","subtype":"success","is_error":false,"num_turns":%d,"result":"%s","session_id":"s-1","total_cost_usd":0,"user_message_uuid":"u"}` + "\n"
		answer = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"I begin."}]},"session_id":"s-1"}` + "\n"
		words  = `"UserPromptSubmit operation blocked by hook:\n[echo no >&2; exit 2]: no prompts on Sundays\n\n\nOriginal prompt: claude-swarm: turn for coder"`
		stops  = `"Operation stopped by hook: no prompts on Sundays"`
	)
	for name, c := range map[string]struct {
		lines string
		end   runner.End
		why   string
	}{
		"2.1.197, blocked":         {fmt.Sprintf(told, words, "") + fmt.Sprintf(result, 0, "blocked"), runner.BadSetup, "[echo no >&2; exit 2]: no prompts on Sundays"},
		"2.1.197, stopped":         {fmt.Sprintf(told, stops, "") + fmt.Sprintf(result, 0, "stopped"), runner.BadSetup, "refuses the prompt: no prompts on Sundays"},
		"2.1.330, blocked":         {fmt.Sprintf(told, words, `,"prompt_submit_outcome":{"kind":"blocked_by_hook","prompt_kept":false,"reason":"no prompts on Sundays"}`) + fmt.Sprintf(result, 0, "blocked"), runner.BadSetup, "refuses the prompt: no prompts on Sundays"},
		"before its result":        {fmt.Sprintf(told, stops, ""), runner.BadSetup, "no prompts on Sundays"},
		"a hook after the answer":  {answer + fmt.Sprintf(told, stops, "") + fmt.Sprintf(result, 1, "I begin."), runner.Done, ""},
		"words that do not stop":   {strings.Replace(fmt.Sprintf(told, stops, ""), `_continuation":true`, `_continuation":false`, 1) + fmt.Sprintf(result, 1, "ready"), runner.Done, ""},
		"damaged settings":         {`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"s-1","total_cost_usd":0,"errors":["Configuration error in /home/ada/.claude.json: JSON Parse error: Unexpected EOF"]}` + "\n", runner.BadSetup, "/home/ada/.claude.json"},
		"another error of a start": {`{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"session_id":"s-1","total_cost_usd":0,"errors":["something else"]}` + "\n", runner.Failed, "something else"},
	} {
		t.Run(name, func(t *testing.T) {
			r := new(backend).newFollower(t.Context(), runner.Turn{Agent: "coder", UUID: "u", Session: runner.Session{ID: "s-1"}})
			dec := streamjson.NewDecoder(strings.NewReader(c.lines), 0)
			for {
				ev, err := dec.Next()
				if err != nil {
					break
				}
				r.observe(ev)
			}
			v := r.proven(r.judge())
			if v.End != c.end || !strings.Contains(v.Reason, c.why) || strings.Contains(v.Reason, "turn for coder") || (v.Hint == "") != v.End.OK() {
				t.Errorf("ends %s (%q, %q), want %s with …%s…", v.End, v.Reason, v.Hint, c.end, c.why)
			}
		})
	}
	// 2.1.197 prints the same on standard error, and other lines after it.
	v := judge(evidence{exit: runner.Exit{ExitCode: 1}, stderr: "Configuration error in /home/ada/.claude.json: JSON Parse error\n\nThe corrupted file has been backed up\n"})
	if v.End != runner.NoFirstEvent || !strings.Contains(v.Reason, "/home/ada/.claude.json: JSON Parse error") {
		t.Errorf("ends %s: %q", v.End, v.Reason)
	}
}
