package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// arguments are the arguments of a call.
type arguments map[string]any

func (a arguments) with(name string, value any) arguments {
	changed := maps.Clone(a)
	changed[name] = value
	return changed
}

func (a arguments) without(name string) arguments {
	changed := maps.Clone(a)
	delete(changed, name)
	return changed
}

// mistaken calls a tool with one mistake in its arguments. It checks that the result is a
// short message that begins with the tool's name, not a protocol error.
func (p *project) mistaken(tool string, args any, want string) {
	p.t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	res := p.try(tool, string(data))
	text := textOf(res)
	if !res.IsError || !strings.HasPrefix(text, tool+": ") || !strings.Contains(text, want) || len(text) > 2000 || res.StructuredContent != nil {
		p.t.Errorf("%s %.80s: an error is %v, %.2200q, want %q", tool, data, res.IsError, text, want)
	}
}

// argumentsOf returns the schema of a tool's arguments.
func argumentsOf(t *testing.T, tool *mcp.Tool) (properties map[string]map[string]any, required []string) {
	t.Helper()
	data, err := json.Marshal(tool.InputSchema)
	var schema struct {
		Properties map[string]map[string]any
		Required   []string
	}
	if err == nil {
		err = json.Unmarshal(data, &schema)
	}
	if err != nil {
		t.Fatal(err)
	}
	return schema.Properties, schema.Required
}

// Every tool rejects, for each argument, every mistake that its schema makes possible,
// and does nothing.
func TestEveryMistakeWithEveryTool(t *testing.T) {
	p := newChat(t)
	p.env = nil // the lead
	work, _ := p.call("publish", `{"topic":"review.requested","text":"Look at it"}`)
	p.env = asAgent("coder")
	mail := p.deliver("coder", &dropbox.Message{From: "reviewer", Type: dropbox.Question, Body: []byte("done?")})
	before := p.state()

	// right maps each argument name to a correct value.
	right := arguments{
		"to": "reviewer", "text": "x", "channel": "#project-x", "name": "work-1", "question": "x", "message": "x", "topic": "task.created",
		"patterns": []string{"task.*"}, "page": "status", "path": ".",
	}
	rightOf := map[string]arguments{"read": {"id": mail}, "reply": {"id": mail}, "ack": {"id": work["id"]}, "claim": {"id": work["id"]}, "irc_ask": {"timeout": 1}}
	// tooLong lists the expected errors for a value of 100,000 bytes.
	tooLong := map[string]string{
		"to": "no agent named", "cc": "no agent named", "agent": "list_agents lists them all", "id": "no such message", "thread": "no such message", "reply_to": "no such message", "depends_on": "no such message",
		"inbox since": "no such message", "text": "the maximum is 8192; ", "message": "the maximum is 8192; use fewer words", "question": "the maximum is 8192; use fewer words",
		"board_write text": "the maximum is 32768; summarize", "handoff": "the maximum is 32768; summarize", "default": "the maximum is 1024", "subject": "the maximum is 1024", "key": "the maximum is 1024",
		"topic": "the maximum is 128", "patterns": "the maximum is 128", "page": "there is no page", "path": "file name too long", "attach": "file name too long",
		"channel": "neither a channel nor a nick", "name": "neither a channel nor a nick", "read_messages since": "is not a time; write it like",
	}
	wrong := []any{7, 1.5, true, nil, []any{}, []any{7}, map[string]any{}, "x"}
	isOf := map[string]func(any) bool{
		"string":  func(v any) bool { _, ok := v.(string); return ok },
		"boolean": func(v any) bool { _, ok := v.(bool); return ok },
		"integer": func(v any) bool { _, ok := v.(int); return ok },
		"array":   func(v any) bool { list, ok := v.([]any); return ok && len(list) == 0 },
	}
	calls := 0
	for tool, err := range p.client.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		properties, required := argumentsOf(t, tool)
		good := arguments{}
		for _, name := range required {
			good[name] = right[name]
		}
		maps.Copy(good, rightOf[tool.Name])
		mistake := func(args any, want string) { calls++; p.mistaken(tool.Name, args, want) }

		mistake([]any{}, "the arguments are not a JSON object")
		mistake("x", "the arguments are not a JSON object")
		mistake(good.with("zzzzzz", 1), `there is no argument "zzzzzz"; it takes `)
		for _, name := range required {
			mistake(good.without(name), "the argument "+name+" is missing: ")
		}
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			p := properties[name]
			kind := p["type"].(string)
			if mistyped := name[:len(name)-1]; len(name) > 3 && properties[mistyped] == nil {
				mistake(good.without(name).with(mistyped, good[name]), fmt.Sprintf("there is no argument %q; did you mean ", mistyped))
			}
			for _, v := range wrong {
				if !isOf[kind](v) {
					mistake(good.with(name, v), ": want ")
				}
			}
			if least, ok := p["minimum"].(float64); ok {
				mistake(good.with(name, least-1), fmt.Sprintf("%s: %v is too small; the minimum is %v", name, least-1, least))
			}
			if most, ok := p["maximum"].(float64); ok {
				mistake(good.with(name, most+1), fmt.Sprintf("%s: %v is too large; the maximum is %v", name, most+1, most))
			}
			long := strings.Repeat("x", 100_000)
			want := tooLong[tool.Name+" "+name]
			if want == "" {
				want = tooLong[name]
			}
			switch {
			case p["enum"] != nil:
				mistake(good.with(name, long), "is not one of ")
			case kind == "string" && want == "", kind == "array" && want == "":
				t.Errorf("%s: tooLong has no error for %s", tool.Name, name)
			case kind == "string":
				mistake(good.with(name, long), want)
			case kind == "array":
				mistake(good.with(name, []any{long}), want)
			}
		}
	}
	if calls < 400 {
		t.Errorf("only %d calls: the test did not cover the schemas", calls)
	}
	if after := p.state(); after != before {
		t.Errorf("a tool did something:\n%s\nbefore:\n%s", after, before)
	}
	p.call("whoami", `{}`) // the server still answers
}

// state returns the waiting messages, the board's pages and the topics.
func (p *project) state() string {
	p.t.Helper()
	var all []string
	for _, name := range []string{"coder", "reviewer", dropbox.Lead, "irc"} {
		for _, m := range p.waiting(name) {
			all = append(all, name+" "+m.ID)
		}
	}
	_, board := p.call("board_read", `{}`)
	_, topics := p.call("topics", `{}`)
	return strings.Join(append(all, board, topics), "\n")
}

// A message may be exactly as long as the schemas allow.
func TestATextThatJustFits(t *testing.T) {
	p := newChat(t)
	text := strings.Repeat("x", 8192)
	p.call("send", `{"to":"reviewer","text":"`+text+`"}`)
	p.call("irc_send", `{"channel":"#project-x","message":"`+text+`"}`)
	for _, name := range []string{"reviewer", "irc"} {
		if list := p.waiting(name); len(list) != 1 || string(list[0].Body) != text {
			t.Errorf("%s got %d messages, want the text alone", name, len(list))
		}
	}
}
