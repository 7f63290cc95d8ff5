package acp

import (
	"cmp"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// handshakeOf returns the handshake of a turn with a client that has answered initialize
// with hello.
func handshakeOf(t *testing.T, name, hello string, how runner.How, id string) *handshake {
	t.Helper()
	p := programNamed(name)
	c := *p.client
	turn := &runner.Turn{Agent: "coder", Session: runner.Session{How: how, ID: id}}
	h := &handshake{client: &c, program: *p, turn: turn, session: &session{}, born: func(string) time.Time { return time.Time{} }}
	if v := h.initialized(&message{Result: json.RawMessage(hello)}); v.End != "" {
		t.Fatalf("after %s the turn cannot begin: %s", hello, v.Reason)
	}
	return h
}

// methodOf returns the method of a request, or "" if there is no request.
func methodOf(t *testing.T, line []byte) string {
	t.Helper()
	if line == nil {
		return ""
	}
	m, ok := parse(line)
	if !ok {
		t.Fatalf("%q is not a message", line)
	}
	return m.Method
}

func TestHowASessionIsOpened(t *testing.T) {
	const (
		plain   = `{"protocolVersion":1}`
		loads   = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`
		resumes = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}`
	)
	now := time.Date(2026, 7, 1, 12, 0, 30, 0, time.UTC)
	for _, test := range []struct {
		client, hello string
		how           runner.How
		made          time.Time
		method        string
		end           runner.End
	}{
		{"codex", plain, runner.New, time.Time{}, "session/new", ""},
		{"codex", resumes, runner.Resume, now, "session/resume", ""},
		{"codex", loads, runner.Resume, now, "session/load", ""},
		{"codex", plain, runner.Resume, now, "", runner.NoSession},
		{"gemini", loads, runner.Resume, now.Add(-20 * time.Second), "", ""}, // loading would destroy a session created in this minute
		{"gemini", loads, runner.Resume, now.Add(-time.Minute), "session/load", ""},
	} {
		h := handshakeOf(t, test.client, test.hello, test.how, "s1")
		h.born = func(string) time.Time { return test.made }
		line, v := h.open(now)
		if got := methodOf(t, line); got != test.method || v.End != test.end {
			t.Errorf("%s %s %s: the request is %q and the end %q, want %q and %q", test.client, test.hello, test.how, got, v.End, test.method, test.end)
		}
	}
}

// If a client offers session/resume but rejects it as unknown, we send session/load,
// once.
func TestAnUnknownResumeBecomesALoad(t *testing.T) {
	h := handshakeOf(t, "codex", `{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}`, runner.Resume, "s1")
	h.open(time.Now())
	unknown := &fault{Code: codeNoMethod, Message: "method not found"}
	if !h.triesLoad(unknown) {
		t.Fatal("the session is not loaded")
	}
	line, _ := h.open(time.Now())
	if got := methodOf(t, line); got != "session/load" {
		t.Errorf("the second request is %q", got)
	}
	if h.triesLoad(unknown) {
		t.Error("the session is loaded again")
	}
	if v := h.notOpened(unknown); v.End != runner.NoSession {
		t.Errorf("the turn ends %q, want %q", v.End, runner.NoSession)
	}
}

// In version 2 of the protocol, there is no fallback to session/load.
func TestTheSecondVersionResumesOrNot(t *testing.T) {
	h := handshakeOf(t, "acp", `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`, runner.Resume, "s1")
	h.session.hello.Version = second
	h.open(time.Now())
	if h.triesLoad(&fault{Code: codeNoMethod, Message: "method not found"}) {
		t.Error("the same request would be sent endlessly")
	}
}

func TestModeAndModelOfASession(t *testing.T) {
	const answer = `{"sessionId":"s1","modes":{"currentModeId":"https://x#agent","availableModes":[{"id":"https://x#agent"},{"id":"https://x#plan"}]},` +
		`"configOptions":[{"id":"model","category":"model","currentValue":"m1"}]}`
	for _, test := range []struct{ mode, model, methods string }{
		{"", "", ""},
		{"agent", "m1", ""},
		{"plan", "m1", "session/set_mode"},
		{"plan", "m2", "session/set_mode session/set_config_option"},
	} {
		h := handshakeOf(t, "acp", `{"protocolVersion":1}`, runner.New, "")
		h.turn.Spec.PermissionMode, h.turn.Spec.Model = test.mode, test.model
		lines, v := h.opened(json.RawMessage(answer), time.Now())
		var methods []string
		for _, line := range lines {
			methods = append(methods, methodOf(t, line))
		}
		if got := strings.Join(methods, " "); got != test.methods || v.End != "" || h.waiting != len(lines) {
			t.Errorf("mode %q and model %q: requests %q, %d answers missing, end %q; want %q", test.mode, test.model, got, h.waiting, v.End, test.methods)
		}
		if want := cmp.Or(test.mode, "agent"); !strings.HasSuffix(h.session.mode, "#"+want) {
			t.Errorf("mode %q: the session has %q", test.mode, h.session.mode)
		}
	}
}
