package claude

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

func TestJudge(t *testing.T) {
	good := &streamjson.Result{Subtype: "success", Text: "ready"}
	bad := func(status int, text string) *streamjson.Result {
		return &streamjson.Result{Subtype: "success", IsError: true, APIStatus: status, Text: text}
	}
	capped := runner.Turn{CapUSD: 0.5}
	stopped := follow.Verdict{End: runner.Stopped, Reason: "the turn was stopped"}
	for name, c := range map[string]struct {
		e      evidence
		end    runner.End
		reason string // part of the reason
		hint   string // part of the hint
	}{
		"good":                        {evidence{own: good}, runner.Done, "", ""},
		"good, with exit status 1":    {evidence{own: good, exit: runner.Exit{ExitCode: 1}}, runner.Done, "", ""},
		"good, while it was stopped":  {evidence{own: good, cause: stopped}, runner.Done, "", ""},
		"killed after a good result":  {evidence{own: good, exit: runner.Exit{ExitCode: -1, Signal: "killed"}}, runner.Done, "", ""},
		"bad, while it was stopped":   {evidence{own: bad(0, "x"), cause: stopped}, runner.Stopped, "stopped", ""},
		"bad key":                     {evidence{own: bad(401, "Invalid API key · Fix external API key"), problem: "authentication_failed", source: "ANTHROPIC_API_KEY"}, runner.BadSetup, "Invalid API key", "claude /login"},
		"no login":                    {evidence{own: bad(0, "Not logged in · Please run /login")}, runner.BadSetup, "Not logged in", "/login"},
		"forbidden":                   {evidence{own: bad(403, "no")}, runner.Limited, "no", "/login"},
		"no credit":                   {evidence{own: bad(400, "Credit balance is too low"), problem: "billing_error"}, runner.Limited, "Credit balance", "credit"},
		"payment required":            {evidence{own: bad(402, "API Error: 402 Billing problem")}, runner.Limited, "402", "credit"},
		"unknown model":               {evidence{own: bad(404, "There's an issue with the selected model"), problem: "model_not_found"}, runner.BadSetup, "selected model", "model:"},
		"rate limit":                  {evidence{own: bad(429, "API Error: Request rejected (429)"), problem: "rate_limit"}, runner.Limited, "429", "nothing"},
		"usage limit":                 {evidence{own: bad(0, "Claude AI usage limit reached|1795237200")}, runner.Limited, "usage limit", ""},
		"overloaded":                  {evidence{own: bad(529, "API Error: 529 Overloaded."), problem: "server_error"}, runner.Limited, "529", "status.claude.com"},
		"bad gateway":                 {evidence{own: bad(502, "API Error: 502 Bad Gateway"), problem: "server_error"}, runner.Limited, "502", "status.claude.com"},
		"no connection":               {evidence{own: bad(0, "API Error: Unable to connect to API (ConnectionRefused)"), problem: "server_error"}, runner.Limited, "ConnectionRefused", "network"},
		"server error":                {evidence{own: bad(500, "API Error: 500 Internal server error"), problem: "server_error"}, runner.Limited, "500", "status.claude.com"},
		"the model speaks of limits":  {evidence{own: &streamjson.Result{Subtype: "error_during_execution", IsError: true}, words: "usage limit reached|1795237200"}, runner.Failed, "usage limit", "logs coder"},
		"too long":                    {evidence{own: bad(400, "Prompt is too long")}, runner.Failed, "too long", "compact_window"},
		"most turns":                  {evidence{own: &streamjson.Result{Subtype: "error_max_turns", IsError: true}}, runner.Failed, "maximum number of turns", "--max-turns"},
		"most money":                  {evidence{own: &streamjson.Result{Subtype: "error_max_budget_usd", IsError: true, StopReason: "tool_use"}}, runner.Failed, "spent", "--max-budget-usd"},
		"cap":                         {evidence{turn: capped, own: &streamjson.Result{Subtype: "error_max_budget_usd", IsError: true, StopReason: "tool_use"}}, runner.CapReached, "0.50 USD", "claude-swarm budget"},
		"cap, with its answer":        {evidence{turn: capped, own: &streamjson.Result{Subtype: "error_max_budget_usd", IsError: true, StopReason: "end_turn"}}, runner.Done, "", ""},
		"cap, with a sub-agent":       {evidence{turn: capped, own: good, cut: true}, runner.CapReached, "0.50 USD", "claude-swarm budget"},
		"cap, while it was stopped":   {evidence{turn: capped, own: good, cut: true, cause: stopped}, runner.Stopped, "stopped", ""},
		"cap, and no result":          {evidence{turn: capped, cut: true, began: true, exit: runner.Exit{ExitCode: 1}}, runner.CapReached, "0.50 USD", "claude-swarm budget"},
		"most money, with its answer": {evidence{own: &streamjson.Result{Subtype: "error_max_budget_usd", IsError: true, StopReason: "end_turn"}}, runner.Done, "", ""},
		"an error without a text":     {evidence{own: &streamjson.Result{Subtype: "error_during_execution", IsError: true}}, runner.Failed, "error_during_execution", "logs coder"},
		"session to resume missing":   {evidence{own: &streamjson.Result{Subtype: "error_during_execution", IsError: true, Errors: []string{"No conversation found with session ID: s-1"}}}, runner.NoSession, "s-1", ""},
		"the same, on stderr only":    {evidence{stderr: "No conversation found with session ID: s-1\n", exit: runner.Exit{ExitCode: 1}}, runner.NoSession, "s-1", ""},
		"session to make exists":      {evidence{stderr: "Error: Session ID s-1 is already in use.\n", exit: runner.Exit{ExitCode: 1}}, runner.NoSession, "exists", ""},
		"no result":                   {evidence{began: true, exit: runner.Exit{ExitCode: 143}, stderr: "Warning: x\nbye\n"}, runner.Failed, "status 143 without a result: bye", "logs coder"},
		"dead before the first event": {evidence{exit: runner.Exit{ExitCode: -1, Signal: "killed"}}, runner.NoFirstEvent, "a signal (killed)", "by hand"},
		"unknown flag":                {evidence{exit: runner.Exit{ExitCode: 1}, stderr: "error: unknown option '--x'\n"}, runner.BadSetup, "--x", "command:"},
		"bad mode":                    {evidence{exit: runner.Exit{ExitCode: 1}, stderr: "error: option '--permission-mode <mode>' argument 'x' is invalid. Allowed choices are acceptEdits.\n"}, runner.BadSetup, "permission-mode", "permission_mode:"},
		"no node":                     {evidence{exit: runner.Exit{ExitCode: 127}, stderr: "env: 'node': No such file or directory\n"}, runner.BadSetup, "node", "command:"},
		"followed, dead":              {evidence{followed: true, began: true, exit: runner.Exit{ExitCode: -1}}, runner.NoResult, "no result", ""},
		"followed, never spoke":       {evidence{followed: true, exit: runner.Exit{ExitCode: -1}}, runner.NoResult, "no result", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.e.turn = runner.Turn{Agent: "coder", Session: runner.Session{ID: "s-1"}, CapUSD: c.e.turn.CapUSD}
			v := judge(c.e)
			if v.End != c.end || !strings.Contains(v.Reason, c.reason) || !strings.Contains(v.Hint, c.hint) {
				t.Errorf("judge = %s, %q, %q; want %s, …%s…, …%s…", v.End, v.Reason, v.Hint, c.end, c.reason, c.hint)
			}
			if (v.Reason == "") != (v.End == runner.Done) || v.End != c.e.cause.End && (v.Hint == "") != (v.End == runner.Done) {
				t.Errorf("%s has the reason %q and the hint %q", v.End, v.Reason, v.Hint)
			}
		})
	}
}

func TestLimitTexts(t *testing.T) {
	for text, want := range map[string]bool{
		"Claude AI usage limit reached|1795237200":        true,
		"You've hit your limit · resets 3pm":              true,
		"You've hit your Opus weekly limit":               true,
		"5-hour limit reached ∙ resets 2am":               true,
		"the speed limit of this road":                    false,
		"API Error: Repeated 529 Overloaded errors":       false,
		"Bash: ulimit: open files: cannot modify limit: ": false,
	} {
		if got := isLimitText(text); got != want {
			t.Errorf("isLimitText(%q) = %v, want %v", text, got, want)
		}
	}
}
