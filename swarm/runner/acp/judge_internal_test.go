package acp

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

func TestJudge(t *testing.T) {
	stopped := follow.Verdict{End: runner.Stopped, Reason: "the turn was stopped"}
	answered := func(reason string) reply {
		return reply{came: true, heard: true, finished: finished{Reason: reason, Usage: &usage{Input: 1, Output: 1}}}
	}
	noTokens := reply{came: true, heard: true, finished: finished{Reason: "end_turn"}}
	for name, test := range map[string]struct {
		facts facts
		want  runner.End
		says  string
	}{
		"a good turn":                          {facts{reply: answered("end_turn"), words: "ready"}, runner.Done, ""},
		"a good turn that was being ended":     {facts{reply: answered("end_turn"), words: "ready", cause: stopped}, runner.Done, ""},
		"no tokens, and it was being ended":    {facts{reply: noTokens, words: "ready", cause: stopped}, runner.Stopped, ""},
		"only a tool call":                     {facts{reply: answered("end_turn"), called: true}, runner.Done, ""},
		"not a word":                           {facts{reply: answered("end_turn")}, runner.Failed, "without any output"},
		"our tools did not start":              {facts{reply: answered("end_turn"), words: "ready", noTools: true}, runner.NoFirstEvent, "has not started the dead-drop tools"},
		"cancelled for a denied call":          {facts{reply: answered("cancelled"), denied: true}, runner.Done, ""},
		"cancelled":                            {facts{reply: answered("cancelled")}, runner.Failed, "cancelled the turn"},
		"cancelled by us":                      {facts{reply: answered("cancelled"), cause: stopped}, runner.Stopped, ""},
		"cancelled by us after a denied call":  {facts{reply: answered("cancelled"), cause: stopped, denied: true}, runner.Stopped, ""},
		"a reason of next year":                {facts{reply: answered("tired")}, runner.Failed, `"tired"`},
		"codex says that it failed":            {facts{reply: answered("end_turn"), trouble: trouble{failed: true, words: "x", info: "usageLimitExceeded"}}, runner.Limited, "x"},
		"an error after words":                 {facts{reply: noTokens, words: "readyError: 503 x", piece: "Error: 503 x"}, runner.Limited, "Error: 503 x"},
		"words like an error, with tokens":     {facts{reply: answered("end_turn"), words: "Error: 503", piece: "Error: 503"}, runner.Done, ""},
		"an error":                             {facts{reply: reply{came: true, fault: &fault{Code: 429, Message: "slow down"}}}, runner.Limited, "slow down"},
		"the start failed":                     {facts{reply: reply{verdict: follow.Verdict{End: runner.BadSetup}}, cause: stopped}, runner.BadSetup, ""},
		"ended by us":                          {facts{cause: stopped}, runner.Stopped, ""},
		"an earlier daemon's, without answer":  {facts{followed: true, reply: reply{heard: true}}, runner.NoResult, ""},
		"a waiting client that was gone":       {facts{warm: true}, runner.ClientGone, ""},
		"a waiting client that died":           {facts{warm: true, reply: reply{heard: true}}, runner.Failed, "without a result"},
		"not an ACP agent":                     {facts{starting: true, bad: badLines{count: 1, first: "Welcome"}}, runner.BadSetup, `"Welcome"`},
		"died before the turn":                 {facts{stderr: "note\nno such model\n"}, runner.NoFirstEvent, "begun the turn: no such model"},
		"died in the turn after a line of it":  {facts{reply: reply{heard: true}, stderr: "out of memory"}, runner.Failed, "without a result: out of memory"},
		"a bad line behind the initialization": {facts{bad: badLines{count: 1, first: "Welcome"}}, runner.NoFirstEvent, "before it had begun"},
	} {
		test.facts.program = *programNamed("copilot")
		if v := judge(&test.facts); v.End != test.want || !strings.Contains(v.Reason, test.says) {
			t.Errorf("%s: the turn ends %q (%s), want %q with %q", name, v.End, v.Reason, test.want, test.says)
		}
	}
}
