package claude

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// A proof holds back the prompt of a turn until the client reports that it has the tools
// of our MCP server. The daemon sends a control request, which requires no model call,
// and waits if the client is slow to answer:
//
//	ask ──┬─ connected ─────────────────────────────── prompt
//	 ^    ├─ pending ── a moment ── ask again
//	 └────┘
//	      ├─ failed, missing … ─────────────────────── no tools: the turn ends
//	      └─ does not know the question ────────────── prompt; then the init line decides
//	after Timing.Connect ──┬─ was pending ──────────── no tools: the turn ends
//	                       └─ never answered ───────── prompt; then the init line decides
//	after turn_timeout ─────────────────────────────── no tools: the turn ends
//	no sign of life for stall_timeout ──────────────── no tools: the turn ends
//
// The zero proof holds back nothing. Only the turn's goroutine uses it.
type proof struct {
	prompt  []byte // the prompt that is held back, or nil
	began   time.Time
	asked   time.Time // when the last question was sent
	waits   bool      // the last question has not been answered yet
	number  int
	pending string // the status in the last answer; "" before the first answer

	missing follow.Verdict // the verdict if the turn began without its tools; otherwise End is ""
}

// askAgain is the time after which we repeat the question while the client is connecting.
// Claude Code 2.1.197 takes half a second to start and about a tenth of a second to
// connect.
const askAgain = 25 * time.Millisecond

// toolsQuestion is the prefix of the ids of our questions. An answer has the id of its
// question.
const toolsQuestion = "claude-swarm-tools-"

// hold holds back the prompt, and asks the client whether it has the tools.
func (r *follower) hold(prompt []byte) {
	now := time.Now()
	r.proof = proof{prompt: prompt, began: now}
	r.askTools(now)
}

// holds reports whether the prompt is held back.
func (p *proof) holds() bool { return p.prompt != nil }

func (r *follower) askTools(now time.Time) {
	p := &r.proof
	p.number++
	p.asked, p.waits = now, true
	r.run.Send(fmt.Appendf(nil, `{"type":"control_request","request_id":%q,"request":{"subtype":"mcp_status"}}`+"\n", toolsQuestion+strconv.Itoa(p.number)))
}

// release sends the prompt.
func (r *follower) release() {
	prompt := r.proof.prompt
	r.proof = proof{}
	r.run.Expect(time.Now()) // silence before the prompt does not count
	r.sendPrompt(prompt)
}

// isToolsAnswer reports whether ev is an answer to one of our questions. Such answers are
// not events of the turn, which has not begun yet.
func isToolsAnswer(ev *streamjson.Event) bool {
	return ev.Kind == streamjson.KindControl && ev.Control != nil && strings.HasPrefix(ev.Control.RequestID, toolsQuestion)
}

// toolsAnswer handles the answer to a question.
func (r *follower) toolsAnswer(ev *streamjson.Event, now time.Time) {
	p := &r.proof
	if !p.holds() || ev.Control.RequestID != toolsQuestion+strconv.Itoa(p.number) {
		return // the answer is for an earlier daemon, or it arrived after the prompt was sent
	}
	p.waits = false
	if !ev.Control.OK {
		r.release() // the client does not support the question
		return
	}
	var answer struct {
		Response struct {
			Response struct {
				Servers []mcpServer `json:"mcpServers"`
			} `json:"response"`
		} `json:"response"`
	}
	if err := json.Unmarshal(ev.Raw, &answer); err != nil {
		r.release()
		return
	}
	switch s := ours(answer.Response.Response.Servers); s.Status {
	case connected:
		r.release()
	case "pending":
		p.pending = s.Status
	default:
		r.run.End(noTools(r.turn, s.text()), now)
	}
}

// prove performs the actions that are due while the prompt is held back.
func (r *follower) prove(now time.Time) {
	p := &r.proof
	switch bound := r.connectBound(); {
	case !p.holds() || r.run.Ending():
	case r.run.Stalls(now):
		r.proof.missing = noTools(r.turn, "no sign of life for "+r.run.Silent(now).Round(time.Second).String())
		r.run.Kill(r.proof.missing, now) // the client has no work to finish
	case now.Sub(p.began) < bound:
		if !p.waits && now.Sub(p.asked) >= askAgain {
			r.askTools(now)
		}
	case p.pending != "":
		r.run.End(noTools(r.turn, p.pending+" for "+bound.String()), now)
	case bound < r.timing.Connect:
		r.run.End(noTools(r.turn, "no answer for "+bound.String()), now)
	default:
		r.release() // the client has not answered in time
	}
}

// connectBound returns the maximum time for which the prompt is held back. If the turn
// has a shorter time limit, that limit applies, and the turn ends because its tools are
// missing. The message is then not considered the cause.
func (r *follower) connectBound() time.Duration {
	if limit := r.turn.Spec.Timeout; limit > 0 {
		return min(r.timing.Connect, limit)
	}
	return r.timing.Connect
}

// proofDue returns when to check the proof again; zero means never.
func (r *follower) proofDue() time.Time {
	p := &r.proof
	if !p.holds() {
		return time.Time{}
	}
	due := p.began.Add(r.connectBound())
	if again := p.asked.Add(askAgain); !p.waits && again.Before(due) {
		return again
	}
	return due
}

// initSays ends a turn whose init line reports that the tools of our server are missing.
// Such a turn does not count as done even if a successful result arrives before it ends,
// because the agent could neither send messages nor ask questions.
func (r *follower) initSays(ev *streamjson.Event, now time.Time) {
	if r.turn.Tools == nil {
		return
	}
	var line struct {
		Servers []mcpServer `json:"mcp_servers"`
	}
	if json.Unmarshal(ev.Raw, &line) != nil {
		return
	}
	if s := ours(line.Servers); s.Status != connected {
		r.proof.missing = noTools(r.turn, s.text())
		r.run.End(r.proof.missing, now)
	}
}

// proven returns v, the verdict on the result of a turn, unless the tools were missing or a
// hook refused the prompt. The client reports both as a success.
func (r *follower) proven(v follow.Verdict) follow.Verdict {
	if r.seen.refusal.End != "" {
		return r.seen.refusal
	}
	if r.proof.missing.End != "" {
		return r.proof.missing
	}
	return v
}

const connected = "connected"

// An mcpServer is the client's report about one of its MCP servers.
type mcpServer struct {
	Name   string `json:"name"`
	Status string `json:"status"` // connected, pending, failed, needs-auth, disabled
	Error  string `json:"error"`
}

// ours returns our server from the list, or a server with the status "missing" if it is
// not there.
func ours(all []mcpServer) mcpServer {
	for _, s := range all {
		if s.Name == runner.ToolServer {
			return s
		}
	}
	return mcpServer{Name: runner.ToolServer, Status: "missing"}
}

func (s mcpServer) text() string { return follow.WithDetail(s.Status, s.Error) }

// noTools returns the verdict on a turn whose agent could neither send messages nor ask
// questions. The message is not the cause, and a retry may help.
func noTools(t runner.Turn, what string) follow.Verdict {
	return follow.Verdict{End: runner.NoFirstEvent, Reason: "the client does not have the " + runner.ToolServer + " tools: " + what,
		Hint: "look at " + t.Stderr + ", or set mcp: false for agent " + t.Agent}
}
