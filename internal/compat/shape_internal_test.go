package compat

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
)

// requestOf returns a request with the given messages and system text.
func requestOf(t *testing.T, system string, messages ...any) fakeapi.Request {
	t.Helper()
	body, err := json.Marshal(map[string]any{"system": []any{text(system)}, "messages": messages})
	if err != nil {
		t.Fatal(err)
	}
	return fakeapi.Request{Body: body}
}

func text(s string) any { return map[string]any{"type": "text", "text": s} }

func message(role string, blocks ...any) any { return map[string]any{"role": role, "content": blocks} }

// shapeOf returns the shape of a request in a lab at /tmp/compat12.
func shapeOf(t *testing.T, r fakeapi.Request, words ...string) string {
	t.Helper()
	l := &lab{base: "/tmp/compat12"}
	if err := l.sees(r, words...); err != nil {
		t.Fatal(err)
	}
	return l.shape.String()
}

// A word in another frame, role or order makes another shape. This is how a hook's reason
// became a system reminder in 2.1.332 without any answer changing.
func TestAShapeTellsFrameRoleAndOrder(t *testing.T) {
	task := message("user", text("Begin"))
	said := message("assistant", text("Done."))
	framed := text("<system-reminder>\nStop hook feedback:\nWORD\n</system-reminder>")
	shapes := map[string]string{}
	for name, r := range map[string]fakeapi.Request{
		"plain":     requestOf(t, "", task, said, message("user", text("Stop hook feedback:\nWORD"))),
		"framed":    requestOf(t, "", task, said, message("user", framed)),
		"assistant": requestOf(t, "", task, said, message("assistant", text("Stop hook feedback:\nWORD"))),
		"first":     requestOf(t, "", message("user", text("Stop hook feedback:\nWORD")), task, said),
		"result":    requestOf(t, "", task, said, message("user", map[string]any{"type": "tool_result", "content": "Stop hook feedback:\nWORD"})),
		"failed":    requestOf(t, "", task, said, message("user", map[string]any{"type": "tool_result", "is_error": true, "content": "Stop hook feedback:\nWORD"})),
		"system":    requestOf(t, "Stop hook feedback:\nWORD", task, said),
		"missing":   requestOf(t, "", task, said),
	} {
		shape := shapeOf(t, r, "WORD")
		for other, same := range shapes {
			if shape == same {
				t.Errorf("%s has the shape of %s:\n%s", name, other, shape)
			}
		}
		shapes[name] = shape
	}
	want := "user text\nassistant text\nuser text\n  | <system-reminder>\n  | Stop hook feedback:\n  | WORD\n  | </system-reminder>\n"
	if shapes["framed"] != want {
		t.Errorf("framed: %s", cmp.Diff(want, shapes["framed"]))
	}
}

// A shape contains nothing that differs between two runs or two machines.
func TestAShapeIsTheSameInTheNextRun(t *testing.T) {
	of := func(id, path, date, version, reminders string) string {
		return shapeOf(t, requestOf(t, "You are on a machine.\n"+date+"\nWORD\nDisk: "+id,
			message("user", text("<system-reminder>\n"+reminders+"</system-reminder>"), text("session "+id+" in "+path+", on "+date+", by "+version+": WORD"))), "WORD")
	}
	one := of("5f0c3a52-95e5-4d09-9c5b-0f6b5d1c0a01", "/tmp/compat12/project", "2026-11-28", "2.1.332", "It is Saturday.")
	two := of("6f0c3a52-95e5-4d09-9c5b-0f6b5d1c0a02", "/tmp/compat12/project", "2027-01-02T10:00:00.5Z", "2.2.0", "It is Sunday.\nYou have skills.\n")
	if one != two {
		t.Errorf("the shapes differ: %s", cmp.Diff(one, two))
	}
	want := "system text\n  | WORD\n  | …\nuser text\n  | session ID in LAB/project, on DATE, by VERSION: WORD\n"
	if one != want {
		t.Errorf("the shape: %s", cmp.Diff(want, one))
	}
}

func TestFieldsOfALine(t *testing.T) {
	var n line
	if err := json.Unmarshal([]byte(`{"type":"result","is_error":false,"cost":1.5,"none":null,
		"usage":{"claude-x":{"costUSD":0.3}},"denials":[{"tool":"Bash","input":{}}]}`), &n); err != nil {
		t.Fatal(err)
	}
	l := &lab{base: "/tmp/compat12"}
	l.told(n, "type", "is_error", "cost", "none", "usage.*.costUSD", "denials.*.tool", "denials.*.input", "usage.*.tokens", "gone.*.x")
	want := `type: result
is_error: false
cost: a number
none: null
usage.*.costUSD: a number
denials.*.tool: Bash
denials.*.input: an object
usage.*.tokens: missing
gone.*.x: missing
`
	if got := l.shape.String(); got != want {
		t.Errorf("told: %s", cmp.Diff(want, got))
	}
}
