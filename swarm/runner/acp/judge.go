package acp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// reply is the answer to the prompt.
type reply struct {
	came     bool
	accepted bool // the client has accepted the prompt; used only in version 2
	finished finished
	fault    *fault
	heard    bool           // a line arrived after the prompt
	verdict  follow.Verdict // the verdict on a failed start; End is "" if the start succeeded
}

// tokens returns the token counts of the result, or nil if the result has none.
func (r *reply) tokens(in tokensIn) *streamjson.Usage {
	f := &r.finished
	if in == inQuota {
		if t := f.Meta.Quota.Tokens; t != nil {
			return &streamjson.Usage{Input: t.Input, Output: t.Output}
		}
		return nil
	}
	if f.Usage == nil {
		return nil
	}
	return &streamjson.Usage{Input: f.Usage.Input, Output: f.Usage.Output, CacheRead: f.Usage.CacheRead, CacheWrite: f.Usage.CacheWrite}
}

// facts contains everything that a verdict depends on.
type facts struct {
	program  program
	cause    follow.Verdict // why we ended the client, if we did
	reply    reply
	words    string // the last message of the answer
	piece    string // the last piece of that message
	trouble  trouble
	called   bool // the client has called a tool
	denied   bool // a tool call was denied
	noTools  bool // the turn needs our tools, but their server had not listed them by the end of the turn
	followed bool // an earlier daemon started the client
	warm     bool // the client has already run earlier turns
	starting bool // the client has not answered initialize yet
	bad      badLines
	stderr   string // the last lines of the client's standard error
}

// judge returns the verdict on a turn whose result has arrived or whose client has ended.
// It depends only on f, not on a clock or a file.
func judge(f *facts) follow.Verdict {
	p := &f.program
	switch {
	case f.reply.verdict.End != "":
		return f.reply.verdict
	case f.reply.came:
		v := f.judgeReply()
		if v.End.OK() && f.noTools {
			return p.noTools()
		}
		if !v.End.OK() && f.cause.End != "" {
			return f.cause
		}
		return v
	case f.cause.End != "":
		return f.cause
	case f.followed:
		return follow.Lost()
	case f.warm && !f.reply.heard:
		return follow.Gone("has ended")
	case f.starting && f.bad.count > 0:
		return p.notACP(&f.bad)
	case !f.reply.heard:
		return follow.Verdict{End: runner.NoFirstEvent, Reason: p.name + " ended before it had begun the turn" + f.dyingWords(), Hint: p.hintStderr(), Crashed: true}
	}
	return follow.Verdict{End: runner.Failed, Reason: p.name + " ended without a result" + f.dyingWords(), Hint: p.hintStderr(), Crashed: true}
}

// judgeReply returns the verdict on the answer to the prompt.
func (f *facts) judgeReply() follow.Verdict {
	p := &f.program
	if f.reply.fault != nil {
		return p.classify(f.reply.fault, true)
	}
	if f.trouble.failed {
		return p.classifyText(strings.TrimSpace(f.words+" "+f.trouble.words), 0, f.trouble.info)
	}
	if v, ok := f.judgeWords(); ok {
		return v
	}
	switch reason := f.reply.finished.Reason; reason {
	case "end_turn":
		return f.judgeEnd()
	case "cancelled":
		if f.denied && f.cause.End == "" {
			return follow.Verdict{End: runner.Done} // codex cancels a turn after a command is denied
		}
		return follow.Verdict{End: runner.Failed, Reason: p.name + " cancelled the turn", Hint: p.hintLogs()}
	case "refusal":
		return follow.Verdict{End: runner.Failed, Reason: "the model refused to continue: " + f.words, Hint: p.hintLogs()}
	case "max_tokens":
		return follow.Verdict{End: runner.Failed, Reason: "the answer was longer than the model is allowed to write", Hint: "give it less work at a time"}
	case "max_turn_requests":
		return follow.Verdict{End: runner.Failed, Reason: "the turn took more requests than " + p.client.Kind.Title + " allows", Hint: "give it less work at a time"}
	default:
		return follow.Verdict{End: runner.Failed, Reason: fmt.Sprintf("%s ended the turn for an unknown reason: %q", p.name, reason), Hint: p.hintLogs()}
	}
}

// judgeWords returns the verdict on a turn whose last message is an error from the
// program. The error is either the whole message or only its last piece, because copilot
// appends errors to an unfinished answer.
func (f *facts) judgeWords() (v follow.Verdict, ok bool) {
	if f.tokens() != nil {
		return v, false
	}
	for _, pattern := range f.program.client.Errors {
		for _, text := range []string{f.words, f.piece} {
			if found := matches(pattern, text); found != nil {
				status := 0
				if len(found) > 1 {
					status, _ = strconv.Atoi(found[1])
				}
				return f.program.classifyText(text, status, ""), true
			}
		}
	}
	return v, false
}

// judgeEnd returns the verdict on a turn that, according to the client, has ended
// normally.
func (f *facts) judgeEnd() follow.Verdict {
	none := f.tokens() == nil || *f.tokens() == streamjson.Usage{}
	if f.cause.End != "" && none {
		return f.cause // opencode reports a normal end even for a turn that we have cancelled
	}
	if f.words == "" && !f.called && !f.denied {
		// If cline has corrupted its session, it ends the turn without any output.
		return follow.Verdict{End: runner.Failed, Reason: f.program.name + " ended the turn without any output", Hint: f.program.hintStderr()}
	}
	return follow.Verdict{End: runner.Done}
}

func (f *facts) tokens() *streamjson.Usage { return f.reply.tokens(f.program.client.Tokens) }

// dyingWords returns a suffix for a reason: a colon and the last line of the client's
// standard error, or "" if standard error is empty.
func (f *facts) dyingWords() string {
	lines := strings.Split(strings.TrimSpace(f.stderr), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}
