package claude

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A proof holds the prompt of a turn back until the client says that it has the
// tools of our own MCP server. It asks by a control request, which costs no call
// of the model:
//
//	ask ──┬─ connected ───────────────────────────── prompt
//	 ^    ├─ pending ── a moment ── ask again; at last: no tools
//	 └────┘
//	      ├─ failed, missing … ───────────────────── no tools: the turn ends
//	      └─ no answer, or it does not know that ─── prompt; what its init line says counts
//
// The zero proof is over. It belongs to the goroutine of the turn.
type proof struct {
	prompt  []byte // what is held back; nil: it was sent
	began   time.Time
	asked   time.Time // the last question; answered says whether it still waits
	waits   bool
	number  int
	pending string // what was said last
}

// askAgain is the pause between two questions, while the client connects. Claude
// Code 2.1.197 takes about a tenth of a second for it, after half a second for
// itself.
const askAgain = 25 * time.Millisecond

// toolsQuestion begins the ids of the questions, by which their answers are known.
const toolsQuestion = "claude-swarm-tools-"

// hold asks for the tools, and sends the prompt when they are there.
func (r *run) hold(prompt []byte) {
	now := time.Now()
	r.proof = proof{prompt: prompt, began: now}
	r.askTools(now)
}

func (r *run) askTools(now time.Time) {
	p := &r.proof
	p.number++
	p.asked, p.waits = now, true
	r.feed.send(fmt.Appendf(nil, `{"type":"control_request","request_id":%q,"request":{"subtype":"mcp_status"}}`+"\n", toolsQuestion+strconv.Itoa(p.number)))
}

// release sends the prompt.
func (r *run) release() {
	prompt := r.proof.prompt
	r.proof = proof{}
	r.feed.send(prompt)
}

// isToolsAnswer knows the answers. They are no event of the turn: nothing of it has
// begun yet.
func isToolsAnswer(ev *streamjson.Event) bool {
	return ev.Kind == streamjson.KindControl && ev.Control != nil && strings.HasPrefix(ev.Control.RequestID, toolsQuestion)
}

// toolsAnswer takes the answer to a question.
func (r *run) toolsAnswer(ev *streamjson.Event, now time.Time) {
	p := &r.proof
	if p.prompt == nil || ev.Control.RequestID != toolsQuestion+strconv.Itoa(p.number) {
		return // too late, or of an earlier daemon
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
	case "connected":
		r.release()
	case "pending":
		p.pending = s.Status
	default:
		r.end(noTools(r.turn, s.text()), now)
	}
}

// prove does what is due while the prompt is held back.
func (r *run) prove(now time.Time) {
	p := &r.proof
	switch {
	case p.prompt == nil || r.ladder.Begun():
	case p.waits && now.Sub(p.asked) >= r.timing.Answer:
		r.release() // it knows no control requests
	case p.waits:
	case now.Sub(p.began) >= r.timing.Connect:
		r.end(noTools(r.turn, p.pending+" for "+r.timing.Connect.String()), now)
	case now.Sub(p.asked) >= askAgain:
		r.askTools(now)
	}
}

// due is when to look at it again; zero: never.
func (p *proof) due(t runner.Timing) time.Time {
	switch {
	case p.prompt == nil:
		return time.Time{}
	case p.waits:
		return p.asked.Add(t.Answer)
	}
	return p.asked.Add(askAgain)
}

// initSays ends a turn whose first line says that our server failed. One that is
// still connecting may come later.
func (r *run) initSays(ev *streamjson.Event, now time.Time) {
	if r.turn.Tools == nil || r.followed {
		return
	}
	var line struct {
		Servers []mcpServer `json:"mcp_servers"`
	}
	if json.Unmarshal(ev.Raw, &line) != nil {
		return
	}
	if s := ours(line.Servers); s.Status == "failed" {
		r.end(noTools(r.turn, s.text()), now)
	}
}

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

func (s mcpServer) text() string { return withDetail(s.Status, s.Error) }

// noTools is the verdict of a turn whose agent could neither send nor ask. It may
// go better the next time, and is not the message's fault.
func noTools(t runner.Turn, what string) verdict {
	return verdict{end: runner.Unborn, reason: "the client has not the tools of " + runner.ToolServer + ": " + what,
		hint: "look at " + t.Stderr + ", or set mcp: false for agent " + t.Agent}
}
