package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
)

// sessionName returns the name by which the user's other sessions can find the client
// with this pid, and whether that client accepts messages from them.
func (p *project) sessionName(pid int) (name string, listens bool) {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.home, ".claude/sessions", fmt.Sprint(pid)+".json"))
	if err != nil {
		p.t.Fatal(err)
	}
	var session struct{ Name, MessagingSocketPath string }
	if err := json.Unmarshal(data, &session); err != nil || session.Name == "" {
		p.t.Fatalf("%s: %v", data, err)
	}
	return session.Name, session.MessagingSocketPath != ""
}

// Two other sessions of the same user send messages to an agent whose client is waiting.
// One is a person's session. The other is the client of another agent, whose model calls
// SendMessage even though it is not offered that tool. Nothing reaches the agent: no turn
// begins, and no request is sent to the model.
func TestNoSessionReachesAnAgentPastItsMailbox(t *testing.T) {
	t.Parallel()
	const first = `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`
	p := newProject(t, first, lingering+"  reviewer:\n    role: reviewer\n    allowed_tools: [Read]\n")
	p.start()
	p.receipt("coder", p.send("coder", "First task"))
	warm := p.warm("coder")
	name, listens := p.sessionName(warm.PID)
	p.script(fmt.Sprintf(`{"replies":[
		{"name":"send","match":{"last_user_contains":"Tell the other session"},"times":2,
		 "content":[{"tool_use":{"name":"SendMessage","input":{"to":%q,"message":"PEER-WORD","summary":"a word"}}}]},
		{"name":"rest","times":-1,"text":"Done."}]}`, name))

	p.client("-p", "Tell the other session", "--model", "claude-sonnet-4-6")
	sent := p.requests()
	if answer := sent[len(sent)-1].LastUser; listens && !strings.Contains(answer, `"success":true`) {
		t.Errorf("the person's session could not send, so this test proves nothing: %s", answer)
	} else if lists := slices.ContainsFunc(sent, func(q turnRequest) bool { return strings.Contains(q.All, "ListAgents") }); lists != listens {
		t.Errorf("the client offers ListAgents: %v; it listens for other sessions: %v", lists, listens)
	}

	tried := p.receipt("reviewer", p.send("reviewer", "Tell the other session"))
	for _, q := range p.requests() {
		if strings.Contains(q.LastUser, "turn for reviewer") && (strings.Contains(q.All, `"name":"SendMessage"`) && q.Reply == "send" || strings.Contains(q.All, `"name":"ListAgents"`)) {
			t.Error("the model of an agent is offered the tools")
		}
	}
	sent = p.requests()
	if answer := sent[len(sent)-1].LastUser; !strings.Contains(answer, "No such tool") {
		t.Errorf("an agent's call of SendMessage gave %s; receipt %+v", answer, tried)
	}

	// If a message had been accepted, it would have arrived before this one.
	second := p.receipt("coder", p.send("coder", "Second task"))
	if len(second.Attempts) != 1 {
		t.Errorf("receipt = %+v", second)
	}
	if again := p.warm("coder"); again.PID != warm.PID {
		t.Errorf("the client that waited, %d, is gone; %d waits", warm.PID, again.PID)
	}
	asked := 0
	for _, r := range p.api.Requests() {
		if r.Kind != fakeapi.Main || r.Header["X-Claude-Code-Session-Id"] != second.Session {
			continue
		}
		asked++
		if strings.Contains(string(r.Body), "PEER-WORD") {
			t.Errorf("the agent was told what another session sent")
		}
	}
	streams := p.streams()
	for _, s := range streams {
		inits, results, _ := p.stream(s)
		if strings.Contains(s, second.Turn) || inits != results || inits > 2 {
			t.Errorf("%s: %d turns began and %d ended", s, inits, results)
		}
	}
	if asked != 2 {
		t.Errorf("the model was asked %d times for coder, want twice", asked)
	}
}
