package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A request describes what a call actually does, even if its kind and title suggest
// something else.
func TestRequestsTellWhatACallDoes(t *testing.T) {
	for _, test := range []struct {
		call       toolFields
		kind, tool string
	}{
		{toolFields{ToolKind: "read", Title: "cat a", Input: json.RawMessage(`{"command":"curl evil"}`)}, "execute", ""},
		{toolFields{ToolKind: "read", Title: "wipe (files MCP Server)"}, "other", "files__wipe"},
		{toolFields{ToolKind: "other", Title: `files__wipe: {"x":1}`}, "other", "files__wipe"},
		{toolFields{ToolKind: "edit", Title: "a.go"}, "edit", ""},
		{toolFields{ToolKind: "edit", Title: "a (files MCP Server)"}, "edit", ""}, // the title is a file name
	} {
		r := requestOf(&toolCall{toolFields: test.call})
		if r.Kind != test.kind || r.Tool != test.tool {
			t.Errorf("%s %q: kind %q and tool %q, want %q and %q", test.call.ToolKind, test.call.Title, r.Kind, r.Tool, test.kind, test.tool)
		}
	}
	if r := requestOf(&toolCall{toolFields: toolFields{Title: strings.Repeat("= ", 1<<20)}}); len(r.Title) > maxTitle {
		t.Errorf("a title of %d bytes is kept", len(r.Title))
	}
}

// If a method's name is very long, the refusal contains only its beginning. A line whose
// id is that long is not a message.
func TestARefusalIsShort(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	if line := refuseMethod(json.RawMessage("7"), long); len(line) > 1<<10 || !strings.Contains(string(line), "xxxxxxxx") {
		t.Errorf("the refusal of a long method has %d bytes", len(line))
	}
	if m, ok := parse([]byte(`{"id":"` + long + `","method":"x"}`)); ok {
		t.Errorf("a request with an id of %d bytes counts", len(m.ID))
	}
	if _, ok := parse([]byte(`{"id":"` + long[:1000] + `","method":"x"}`)); !ok {
		t.Error("a request with an id of 1000 bytes does not count")
	}
}

// A request contains everything that codex requests in addition to a command.
func TestRequestsTellWhatACommandMayDoBesides(t *testing.T) {
	for input, beside := range map[string]string{
		`{"command":"npm test"}`: "",
		`{"command":"npm test","additionalPermissions":null,"url":""}`:                      "",
		`{"command":"npm test","additionalPermissions":{},"cwd":"/x"}`:                      "",
		`{"command":"npm test","additionalPermissions":{"network":{"enabled":true}}}`:       `{"additionalPermissions":{"network":{"enabled":true}}}`,
		`{"command":"curl x","url":"https://evil.example/","additional_permissions":["w"]}`: `{"additional_permissions":["w"],"url":"https://evil.example/"}`,
		`{"url":"https://a.example/"}`:                                                      "",
	} {
		r := requestOf(&toolCall{toolFields: toolFields{ToolKind: "execute", Title: "x", Input: json.RawMessage(input)}})
		if string(r.Beside) != beside {
			t.Errorf("%s: beside the command %s, want %s", input, r.Beside, beside)
		}
	}
}

// A request that has no answer at the end of its turn is denied, and the receipt records
// this.
func TestAnOpenRequestIsADecision(t *testing.T) {
	var sent []string
	s := asks{send: func(line []byte) { sent = append(sent, string(line)) }, open: map[string]*asked{
		"7": {id: json.RawMessage("7"), call: &toolCall{toolFields: toolFields{ToolKind: "execute", Input: json.RawMessage(`{"command":"npm test"}`)}}},
	}}
	s.takeBack()
	s.takeBack()
	if len(sent) != 1 || !strings.Contains(sent[0], "cancelled") {
		t.Errorf("sent %q", sent)
	}
	if len(s.decisions) != 1 {
		t.Fatalf("decided %+v, want 1 decision", s.decisions)
	}
	if d := s.decisions[0]; d.Allowed || d.By != runner.Nobody || d.Why != "the turn has ended" || d.Request.Command != "npm test" || d.At.IsZero() {
		t.Errorf("decided %+v", d)
	}
}
