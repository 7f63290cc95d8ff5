package e2e_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An agent with read-only permissions asks another agent a question with its mail tools,
// which are ready before the first prompt and need no permission.
func TestAnAgentSendsByItsTools(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"who","match":{"last_user_contains":"Who are you","tool_offered":"mcp__dead-drop__whoami"},
		 "content":[{"tool_use":{"id":"toolu_1","name":"mcp__dead-drop__whoami","input":{}}}]},
		{"name":"send","match":{"tool_result_contains":"\"name\":\"coder\""},
		 "content":[{"tool_use":{"id":"toolu_2","name":"mcp__dead-drop__send","input":{"to":"reviewer","text":"Please look at it","type":"question"}}}]},
		{"name":"sent","match":{"tool_result_contains":"\"to\":\"reviewer\""},"text":"I have asked reviewer."},
		{"name":"review","match":{"last_user_contains":"Please look at it"},"text":"It looks good."},
		{"name":"rest","times":-1,"text":"Done."}]}`, `  coder:
    role: coder
    zone: the parser
    allowed_tools: [Read]
  reviewer:
    role: reviewer
`)
	p.start()
	id := p.send("coder", "Who are you?")
	r := p.receipt("coder", id)
	if r.Outcome != "done" || len(r.Denied) > 0 || len(r.Sent) != 1 {
		t.Fatalf("receipt %+v, want one message sent and nothing denied", r)
	}
	asked := p.receipt("reviewer", r.Sent[0])
	if !asked.Proven {
		t.Error("the question was not proven to be from coder")
	}
	p.until("the answer", func() bool { // the answer arrives in a separate turn
		return slices.ContainsFunc(p.requests(), func(q turnRequest) bool { return strings.Contains(q.LastUser, "It looks good.") })
	})
	for _, q := range p.requests() {
		if q.Reply == "send" && (!strings.Contains(q.LastUser, `"zone":"the parser"`) || !strings.Contains(q.LastUser, `"id":"`+id+`"`)) {
			t.Errorf("whoami gave %s", q.LastUser)
		}
		if q.Reply == "who" && !strings.Contains(q.All, "mcp__"+runner.ToolServer+"__send") {
			t.Error("the first request does not offer the tools")
		}
	}
}

// Two agents communicate through their tools: one asks a question and waits, the other
// replies later, both use the board, and finally both are idle.
func TestTwoAgentsTalkByTheirTools(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"ask","match":{"last_user_contains":"Write the parser"},
		 "content":[{"tool_use":{"id":"toolu_1","name":"mcp__dead-drop__ask","input":{"to":"reviewer","text":"Tabs or spaces?","timeout":120}}}]},
		{"name":"look","match":{"last_user_contains":"Tabs or spaces?"},
		 "content":[{"tool_use":{"id":"toolu_2","name":"mcp__dead-drop__inbox","input":{}}}]},
		{"name":"decide","match":{"tool_result_contains":"\"mailbox\":\"reviewer\""},
		 "content":[{"tool_use":{"id":"toolu_3","name":"mcp__dead-drop__board_write","input":{"page":"decisions","text":"We use tabs."}}}]},
		{"name":"decided","match":{"tool_result_contains":"\"page\":\"decisions\""},"text":"Tabs, it is decided."},
		{"name":"board","match":{"tool_result_contains":"\"outcome\":\"answered\""},
		 "content":[{"tool_use":{"id":"toolu_4","name":"mcp__dead-drop__board_read","input":{"page":"decisions"}}}]},
		{"name":"history","match":{"tool_result_contains":"We use tabs."},
		 "content":[{"tool_use":{"id":"toolu_5","name":"mcp__dead-drop__history","input":{"agent":"reviewer"}}}]},
		{"name":"tell","match":{"tool_result_contains":"\"turns\""},
		 "content":[{"tool_use":{"id":"toolu_6","name":"mcp__dead-drop__send","input":{"to":"reviewer","type":"status","text":"The parser uses tabs."}}}]},
		{"name":"told","match":{"tool_result_contains":"\"sent\""},"text":"Written with tabs."},
		{"name":"rest","times":-1,"text":"Done."}]}`, `  coder:
    role: coder
    allowed_tools: [Read]
  reviewer:
    role: reviewer
    allowed_tools: [Read]
`)
	p.start()
	id := p.send("coder", "Write the parser")
	r := p.receipt("coder", id)
	if r.Outcome != "done" || len(r.Denied) > 0 || len(r.Sent) != 2 || !strings.Contains(r.Text, "Written with tabs.") {
		t.Fatalf("receipt %+v, want a question and a status sent", r)
	}
	p.receipt("reviewer", r.Sent[0])
	replies := map[string]turnRequest{}
	for _, q := range p.requests() {
		replies[q.Reply] = q
	}
	if got := replies["board"].LastUser; !strings.Contains(got, "Tabs, it is decided.") || !strings.Contains(got, `"from":"reviewer"`) {
		t.Errorf("ask gave %s", got)
	}
	if got := p.read(".dead-drop/board/decisions.md"); !strings.Contains(got, ", reviewer\n\nWe use tabs.\n") {
		t.Errorf("the board says %q", got)
	}
	// A message of type status wakes no agent, and the awaited answer is not delivered a
	// second time.
	p.until("quiet", func() bool {
		for _, a := range p.status().Agents {
			if a.State != "idle" {
				return false
			}
		}
		return true
	})
	if n := p.agent("coder").TurnCount; n != 1 {
		t.Errorf("coder had %d turns, want one", n)
	}
	if n := p.agent("reviewer").TurnCount; n != 1 {
		t.Errorf("reviewer had %d turns, want one", n)
	}
}

// Two agents share work through their tools: one publishes it, and the other claims it
// and reports the result. They also exchange a question and its answer, and one final
// message. After that, they send nothing more.
func TestTwoAgentsShareWorkByTheirTools(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"publish","match":{"last_user_contains":"Get it reviewed"},
		 "content":[{"tool_use":{"id":"toolu_1","name":"mcp__dead-drop__publish","input":{"topic":"review.requested","text":"Look at the parser"}}}]},
		{"name":"ask","match":{"tool_result_contains":"\"topic\":\"review.requested\",\"offered\""},
		 "content":[{"tool_use":{"id":"toolu_2","name":"mcp__dead-drop__ask","input":{"to":"reviewer","text":"Tabs or spaces?","timeout":120}}}]},
		{"name":"claim","match":{"last_user_contains":"Look at the parser"},
		 "content":[{"tool_use":{"id":"toolu_3","name":"mcp__dead-drop__claim","input":{}}}]},
		{"name":"ack","match":{"tool_result_contains":"The end of the turn closes the work"},
		 "content":[{"tool_use":{"id":"toolu_4","name":"mcp__dead-drop__ack","input":{"text":"The parser is good."}}}]},
		{"name":"acked","match":{"tool_result_contains":"\"outcome\":\"completed\""},"text":"Closed."},
		{"name":"reply","match":{"last_user_regexp":"(?s)Message ([a-z2-7]{10}) from coder.*Tabs or spaces"},
		 "content":[{"tool_use":{"id":"toolu_5","name":"mcp__dead-drop__reply","input":{"id":"{{match}}","text":"Tabs."}}}]},
		{"name":"replied","match":{"tool_result_contains":"\"to\":\"coder\""},"text":"I have answered."},
		{"name":"thank","match":{"tool_result_contains":"\"outcome\":\"answered\""},
		 "content":[{"tool_use":{"id":"toolu_6","name":"mcp__dead-drop__send","input":{"to":"reviewer","type":"status","text":"Tabs it is."}}}]},
		{"name":"thanked","match":{"tool_result_contains":"\"to\":\"reviewer\""},"text":"It is being reviewed."},
		{"name":"reviewed","match":{"last_user_contains":"The parser is good."},"text":"Thank you."},
		{"name":"rest","times":-1,"text":"Done."}]}`, `  coder:
    role: coder
    allowed_tools: [Read]
  reviewer:
    role: reviewer
    allowed_tools: [Read]
`)
	p.start()
	p.swarm("subscribe", "review.*", "--agent", "reviewer")
	id := p.send("coder", "Get it reviewed")
	r := p.receipt("coder", id)
	if r.Outcome != "done" || len(r.Denied) > 0 || len(r.Sent) != 3 || !strings.Contains(r.Text, "It is being reviewed.") {
		t.Fatalf("receipt %+v, want a publication, a question and a status", r)
	}
	p.until("the result of the published work", func() bool {
		return slices.ContainsFunc(p.requests(), func(q turnRequest) bool { return q.Reply == "reviewed" })
	})
	p.until("quiet", func() bool {
		for _, a := range p.status().Agents {
			if a.State != "idle" || a.Waiting.Urgent+a.Waiting.Normal > 1 { // a message of type status wakes no agent
				return false
			}
		}
		return true
	})
	var order []string
	for _, q := range p.requests() {
		order = append(order, q.Reply)
		switch q.Reply {
		case "ack":
			if !strings.Contains(q.LastUser, r.Sent[0]) || !strings.Contains(q.LastUser, `"agent":"reviewer"`) {
				t.Errorf("claim gave %s", q.LastUser)
			}
		case "thank":
			if !strings.Contains(q.LastUser, `"text":"Tabs."`) || !strings.Contains(q.LastUser, `"proven":true`) {
				t.Errorf("ask gave %s", q.LastUser)
			}
		}
	}
	for _, name := range []string{"publish", "ask", "claim", "ack", "acked", "reply", "replied", "thank", "thanked", "reviewed"} {
		if n := strings.Count(" "+strings.Join(order, " ")+" ", " "+name+" "); n != 1 {
			t.Errorf("%s was asked for %d times, want once, in %q", name, n, order)
		}
	}
	if slices.Contains(order, "rest") {
		t.Errorf("the model was asked more than that: %q", order)
	}
	if out := p.swarm("topics"); strings.Contains(out, r.Sent[0]) {
		t.Errorf("the work is still open:\n%s", out)
	}
	if coder, reviewer := p.agent("coder").TurnCount, p.agent("reviewer").TurnCount; coder != 2 || reviewer != 2 {
		t.Errorf("coder had %d turns and reviewer %d, want two each", coder, reviewer)
	}
}

// When no daemon is running, the tools still read and deliver mail, and report that the
// daemon is not running.
func TestToolsWithoutADaemon(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"wait","match":{"last_user_contains":"Go on alone"},
		 "content":[{"tool_use":{"id":"toolu_1","name":"Bash","input":{"command":"while [ ! -e go ]; do sleep 0.1; done","description":"wait"}}}]},
		{"name":"inbox","match":{"last_is_tool_result":true,"not_contains":"toolu_2"},
		 "content":[{"tool_use":{"id":"toolu_2","name":"mcp__dead-drop__inbox","input":{}}}]},
		{"name":"send","match":{"tool_result_contains":"\"mailbox\":\"coder\""},
		 "content":[{"tool_use":{"id":"toolu_3","name":"mcp__dead-drop__send","input":{"to":"reviewer","text":"Are you there?"}}}]},
		{"name":"rest","times":-1,"text":"Done."}]}`, `  coder:
    role: coder
  reviewer:
    role: reviewer
`)
	p.start()
	id := p.send("coder", "Go on alone")
	p.until("the wait", func() bool {
		return slices.ContainsFunc(p.requests(), func(q turnRequest) bool { return q.Reply == "wait" })
	})
	if err := syscall.Kill(p.status().Daemon.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.write("go", "")
	p.until("both tools were called", func() bool {
		n := 0
		for _, q := range p.requests() {
			if q.Reply == "send" || q.Reply == "rest" {
				if !strings.Contains(q.LastUser, "No daemon is running") {
					t.Fatalf("%s followed %s, want that no daemon is running", q.Reply, q.LastUser)
				}
				n++
			}
		}
		return n == 2
	})
	p.start()
	if r := p.receipt("coder", id); r.Outcome != "done" || len(r.Sent) != 1 {
		t.Errorf("receipt %+v, want one message sent", r)
	} else {
		p.receipt("reviewer", r.Sent[0])
	}
}

// serve starts a daemon and then replaces the program on disk, as an upgrade does. The new
// program runs script before it starts our tool server.
func (p *project) serve(script string) {
	p.t.Helper()
	bin := p.t.TempDir()
	data, err := os.ReadFile(program)
	if err != nil {
		p.t.Fatal(err)
	}
	own, next := filepath.Join(bin, "claude-swarm"), filepath.Join(bin, "next")
	text := "#!/bin/sh\nif [ \"$1\" = mcp ]; then\n" + script + "fi\nexec " + program + " \"$@\"\n"
	if err := errors.Join(execfile.Write(own, data), execfile.Write(next, []byte(text))); err != nil {
		p.t.Fatal(err)
	}
	start := exec.Command(own, "start")
	start.Dir, start.Env = p.dir, p.env
	if out, err := start.CombinedOutput(); err != nil {
		p.t.Fatalf("start: %v\n%s", err, out)
	}
	if err := os.Rename(next, own); err != nil {
		p.t.Fatal(err)
	}
}

// A client that lacks its tools gets no prompt: the agent is stopped, the status shows the
// reason and the next step, and no request is sent to the model.
func TestAnAgentWithoutItsToolsIsStopped(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`, "  coder:\n    role: coder\n")
	p.serve("exit 1\n")
	p.send("coder", "Do it")
	p.until("stopped", func() bool { return p.agent("coder").State == "stopped" })
	a := p.agent("coder")
	if !strings.Contains(a.Why, "does not have the dead-drop tools: failed") || !strings.Contains(a.Next, "mcp: false") || !a.CircuitOpen {
		t.Errorf("why = %q, next = %q", a.Why, a.Next)
	}
	if n := len(p.requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
	if a.Waiting.Total() != 1 || a.Dead != 0 {
		t.Errorf("%d wait and %d are dead, want the message to wait", a.Waiting.Total(), a.Dead)
	}
}

// Every turn, not only the daemon's first one, waits for a tool server that takes 4 s to
// start: in each turn, the client's first line says that it has the tools.
func TestEveryTurnWaitsForItsTools(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"who","times":-1,"match":{"last_user_contains":"Who is there"},"content":[{"tool_use":{"name":"mcp__dead-drop__whoami","input":{}}}]},
		{"name":"told","times":-1,"match":{"tool_result_contains":"\"name\":\"coder\""},"text":"I am coder."},
		{"name":"rest","times":-1,"text":"I do not know."}]}`, "  coder:\n    role: coder\n")
	p.serve("sleep 4\n")
	for range 2 {
		if r := p.receipt("coder", p.send("coder", "Who is there?")); r.Text != "I am coder." {
			t.Errorf("the turn ended with %q", r.Text)
		}
	}
	streams := p.streams()
	if len(streams) != 2 {
		t.Errorf("%d clients ran, want one for each of the two turns", len(streams))
	}
	for _, name := range streams {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		dec := streamjson.NewDecoder(f, 0)
		for {
			ev, err := dec.Next()
			if err != nil {
				t.Fatalf("%s has no first line of a turn: %v", name, err)
			}
			if ev.Kind != streamjson.KindInit {
				continue
			}
			if !strings.Contains(string(ev.Raw), `{"name":"dead-drop","status":"connected"`) {
				t.Errorf("the client says %s", ev.Raw)
			}
			break
		}
	}
}
