package acp

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

const hintAway = "nothing has to be done: the message waits and is tried again"

// judge returns the verdict on a turn, at its result or at the end of its client.
func (e *exchange) judge() follow.Verdict {
	cause := e.run.Cause()
	switch {
	case e.reply.verdict.End != "":
		return e.reply.verdict
	case e.reply.came:
		v := e.judgeReply()
		if v.End.OK() && e.turn.Tools != nil && e.client.LateTools && !e.followed && !e.hasTools() {
			return noTools(e)
		}
		if !v.End.OK() && cause.End != "" {
			return cause
		}
		return v
	case cause.End != "":
		return cause
	case e.followed:
		return follow.Lost()
	case e.warm() && !e.reply.heard:
		return follow.Gone("has ended")
	case e.step == starting && e.bad.count > 0:
		return notACP(e)
	case !e.reply.heard:
		return follow.Verdict{End: runner.NoFirstEvent, Reason: e.program() + " ended before it had begun the turn" + e.dyingWords(), Hint: "look at " + e.turn.Stderr}
	}
	return follow.Verdict{End: runner.Failed, Reason: e.program() + " ended without a result" + e.dyingWords(), Hint: "look at " + e.turn.Stderr}
}

// warm reports whether the client had earlier turns.
func (e *exchange) warm() bool { return e.turn.From != runner.Place{} }

// judgeReply returns the verdict on the answer to the prompt.
func (e *exchange) judgeReply() follow.Verdict {
	if e.reply.fault != nil {
		return e.classify(e.reply.fault, true)
	}
	words := e.stream.words()
	if e.stream.failed {
		return e.classifyText(strings.TrimSpace(words+" "+e.stream.problem), 0, e.stream.info)
	}
	for _, p := range e.client.Errors {
		if found := matches(p, words); found != nil && e.tokens() == nil {
			status := 0
			if len(found) > 1 {
				status, _ = strconv.Atoi(found[1])
			}
			return e.classifyText(words, status, "")
		}
	}
	switch reason := e.reply.finished.Reason; reason {
	case "end_turn":
		return e.judgeEnd(words)
	case "cancelled":
		if len(e.asks.denied) > 0 {
			return follow.Verdict{End: runner.Done} // codex ends a turn in which a command was refused
		}
		return follow.Verdict{End: runner.Failed, Reason: e.program() + " cancelled the turn", Hint: hintLogs(e)}
	case "refusal":
		return follow.Verdict{End: runner.Failed, Reason: "the model refused to go on: " + words, Hint: hintLogs(e)}
	case "max_tokens":
		return follow.Verdict{End: runner.Failed, Reason: "the answer was longer than the model may write", Hint: "give it less to do at once"}
	case "max_turn_requests":
		return follow.Verdict{End: runner.Failed, Reason: "the turn took more requests than " + e.client.Kind.Title + " allows", Hint: "give it less to do at once"}
	default:
		return follow.Verdict{End: runner.Failed, Reason: fmt.Sprintf("%s ended the turn for a reason that is not known here: %q", e.program(), reason), Hint: hintLogs(e)}
	}
}

// judgeEnd returns the verdict on a turn that has ended normally, according to the client.
func (e *exchange) judgeEnd(words string) follow.Verdict {
	none := e.tokens() == nil || *e.tokens() == streamjson.Usage{}
	if cause := e.run.Cause(); cause.End != "" && none {
		return cause // opencode also reports a turn that we have cancelled like this
	}
	if words == "" && len(e.stream.order) == 0 && len(e.asks.denied) == 0 {
		// cline ends a turn like this in a session that it has corrupted.
		return follow.Verdict{End: runner.Failed, Reason: e.program() + " ended the turn without a word", Hint: "look at " + e.turn.Stderr}
	}
	return follow.Verdict{End: runner.Done}
}

func hintLogs(e *exchange) string {
	return "claude-swarm logs " + e.turn.Agent + " shows what it did last"
}

// program returns the name of the client for a person.
func (e *exchange) program() string {
	if e.client.Kind.Name == "acp" && len(e.turn.Spec.Command) > 0 {
		return e.turn.Spec.Command[0]
	}
	return e.client.Kind.Title
}

// dyingWords returns the last line of the standard error, as a part of a reason.
func (e *exchange) dyingWords() string {
	lines := strings.Split(strings.TrimSpace(e.run.Stderr()), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

// mayRest reports, at the answer to the prompt, whether the client can take another one.
// After anything unusual it is false: to start another client is always safe.
func (e *exchange) mayRest() bool {
	return e.keep && e.judge().End == runner.Done && e.run.MayStay() && len(e.asks.open) == 0 && !e.steered.missing()
}

// These are the verdicts on a set-up that cannot work. A retry does not help.

func refused(e *exchange, why string) follow.Verdict {
	return follow.Verdict{End: runner.Refused, Reason: e.program() + ": " + why, Hint: "check command: and backend: of agent " + e.turn.Agent}
}

func notACP(e *exchange) follow.Verdict {
	return refused(e, fmt.Sprintf("it prints %q and is no ACP agent", e.bad.first))
}

func notSignedIn(e *exchange, f *fault) follow.Verdict {
	return follow.Verdict{End: runner.Refused, Reason: e.program() + " is not signed in: " + f.text(), Hint: e.client.Kind.Login.Try}
}

func unknownSetting(e *exchange, id string, f *fault) follow.Verdict {
	key, value := "permission_mode", e.turn.Spec.PermissionMode
	if id == idModel {
		key, value = "model", e.turn.Spec.Model
	}
	return follow.Verdict{End: runner.Refused, Reason: fmt.Sprintf("%s does not take the %s %q: %s", e.program(), key, value, f.text()),
		Hint: "change " + key + ": of agent " + e.turn.Agent}
}

// noTools returns the verdict on a turn whose agent could neither send nor ask. The message
// is not the cause.
func noTools(e *exchange) follow.Verdict {
	return follow.Verdict{End: runner.NoFirstEvent, Reason: e.program() + " has not started the tools of " + runner.ToolServer,
		Hint: "look at " + e.turn.Stderr + ", or set mcp: false for agent " + e.turn.Agent}
}

func itoa(n int) string { return strconv.Itoa(n) }

// silenceOf returns how long a client may be silent. The time doubles with each of the
// agent's turns that ended because of silence, so that a slow model can answer in the end.
func silenceOf(c *Client, before int, stall time.Duration) time.Duration {
	d := c.Silence
	if d == 0 {
		return 0
	}
	for range min(before, 10) {
		d *= 2
	}
	if stall > 0 && d >= stall {
		return 0 // stall_timeout ends the turn first
	}
	return d
}
