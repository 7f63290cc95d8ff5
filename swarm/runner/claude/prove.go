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

// A proof holds the prompt of a turn back until the client says that it has the
// tools of our own MCP server. It asks by a control request, which costs no call
// of the model, and waits for a client that is slow to answer:
//
//	ask ──┬─ connected ─────────────────────────────── prompt
//	 ^    ├─ pending ── a moment ── ask again
//	 └────┘
//	      ├─ failed, missing … ─────────────────────── no tools: the turn ends
//	      └─ it does not know that ─────────────────── prompt; what its init line says counts
//	at last (Timing.Connect) ──┬─ it was pending ───── no tools: the turn ends
//	                           └─ it never answered ── prompt; what its init line says counts
//
// The zero proof is over. It belongs to the goroutine of the turn.
type proof struct {
	prompt  []byte // what is held back; nil: it was sent
	began   time.Time
	asked   time.Time // the last question; waits says whether its answer is missing
	waits   bool
	number  int
	pending string // what was said last; "": nothing yet

	missing follow.Verdict // the turn began without its tools, whatever comes of it; no end: it did not
}

// askAgain is the pause between two questions, while the client connects. Claude
// Code 2.1.197 takes about a tenth of a second for it, after half a second for
// itself.
const askAgain = 25 * time.Millisecond

// toolsQuestion begins the ids of the questions, by which their answers are known.
const toolsQuestion = "claude-swarm-tools-"

// hold asks for the tools, and sends the prompt when they are there.
func (r *follower) hold(prompt []byte) {
	now := time.Now()
	r.proof = proof{prompt: prompt, began: now}
	r.askTools(now)
}

// holds tells whether the prompt is held back.
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
	r.run.Expect(time.Now()) // the silence before says nothing of the turn
	r.run.Send(prompt)
}

// isToolsAnswer recognizes the answers. They are not events of the turn, which has not
// begun yet.
func isToolsAnswer(ev *streamjson.Event) bool {
	return ev.Kind == streamjson.KindControl && ev.Control != nil && strings.HasPrefix(ev.Control.RequestID, toolsQuestion)
}

// toolsAnswer handles the answer to a question.
func (r *follower) toolsAnswer(ev *streamjson.Event, now time.Time) {
	p := &r.proof
	if !p.holds() || ev.Control.RequestID != toolsQuestion+strconv.Itoa(p.number) {
		return // of an earlier daemon, or after the prompt
	}
	p.waits = false
	if !ev.Control.OK {
		r.release() // it does not know the question
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

// prove does the steps that are due while the prompt is held back.
func (r *follower) prove(now time.Time) {
	p := &r.proof
	switch bound := r.connectBound(); {
	case !p.holds() || r.run.Ending():
	case now.Sub(p.began) >= bound && p.pending == "":
		r.release() // it knows no control requests
	case now.Sub(p.began) >= bound:
		r.run.End(noTools(r.turn, p.pending+" for "+bound.String()), now)
	case !p.waits && now.Sub(p.asked) >= askAgain:
		r.askTools(now)
	}
}

// connectBound is how long the prompt is held back at the most. A turn that would be
// over by then ends for want of its tools, for which the message is not to blame.
func (r *follower) connectBound() time.Duration {
	if limit := r.turn.Spec.Timeout; limit > 0 {
		return min(r.timing.Connect, limit)
	}
	return r.timing.Connect
}

// proofDue is when to look at it again; zero: never.
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

// initSays ends a turn whose first line says that the tools of our server are missing.
// The turn is not done then, also where a good result comes before its end: the agent
// could neither send nor ask.
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

// proven is the verdict of a turn, given that of its result.
func (r *follower) proven(v follow.Verdict) follow.Verdict {
	if r.proof.missing.End != "" {
		return r.proof.missing
	}
	return v
}

const connected = "connected"

// An mcpServer is what the client says of one of its MCP servers.
type mcpServer struct {
	Name   string `json:"name"`
	Status string `json:"status"` // connected, pending, failed, needs-auth, disabled
	Error  string `json:"error"`
}

// ours finds our own server.
func ours(all []mcpServer) mcpServer {
	for _, s := range all {
		if s.Name == runner.ToolServer {
			return s
		}
	}
	return mcpServer{Name: runner.ToolServer, Status: "missing"}
}

func (s mcpServer) text() string { return follow.WithDetail(s.Status, s.Error) }

// noTools is the verdict on a turn whose agent could neither send nor ask. A retry may
// help, and the message is not the cause.
func noTools(t runner.Turn, what string) follow.Verdict {
	return follow.Verdict{End: runner.NoFirstEvent, Reason: "the client has not the tools of " + runner.ToolServer + ": " + what,
		Hint: "look at " + t.Stderr + ", or set mcp: false for agent " + t.Agent}
}
