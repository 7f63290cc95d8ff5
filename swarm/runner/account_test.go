package runner_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/google/go-cmp/cmp"
)

// What the recorded streams of the real client come to.
func TestAccountOfTranscripts(t *testing.T) {
	for name, want := range map[string]struct {
		text        string
		calls       int
		compactions int
		context     int
		files       []string
		allow       []string
		results     int
	}{
		"hello":             {text: "Hello from the script.", context: 12000, results: 1},
		"tool_use":          {text: "One package failed: mail.", calls: 1, context: 13400, results: 1},
		"permission_denied": {text: "The tool has answered.", calls: 1, context: 14000, allow: []string{"Write"}, results: 1},
		"auto_compact":      {text: "Done. (3 messages in the context)", compactions: 1, context: 15000, results: 1},
		"big_output":        {text: "The tool has answered.", calls: 3, context: 14000, files: []string{"/home/dev/project/big.txt"}, results: 1},
		"subagent":          {text: "The helper reported: all fine.", calls: 2, context: 91000, results: 1},
		"background_task":   {calls: 1, context: 13500, results: 2},
		"interrupted":       {calls: 1, context: 13000},
		"error_401":         {text: "Invalid API key · Fix external API key", results: 1},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := os.Open(filepath.Join("..", "..", "testdata", "transcripts", name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var a runner.Account
			for dec := streamjson.NewDecoder(f, 0); ; {
				ev, err := dec.Next()
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				a.Observe(ev)
			}
			var o runner.Outcome
			a.Fill(&o)
			if want.text != "" && o.Text != want.text {
				t.Errorf("text is %q, want %q", o.Text, want.text)
			}
			if o.ToolCalls != want.calls || o.Compactions != want.compactions || o.ContextTokens != want.context {
				t.Errorf("account is %+v, want %d calls, %d compactions, %d tokens of context", o.Spent, want.calls, want.compactions, want.context)
			}
			if diff := cmp.Diff(want.files, o.Files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			var allow []string
			for _, d := range o.Denied {
				allow = append(allow, d.Allow)
			}
			if diff := cmp.Diff(want.allow, allow); diff != "" {
				t.Errorf("entries that would allow what was denied (-want +got):\n%s", diff)
			}
			if len(a.Results()) != want.results {
				t.Errorf("%d results, want %d", len(a.Results()), want.results)
			}
			if open := a.OpenCalls(); (name == "interrupted") != (open == 1) {
				t.Errorf("%d tool calls are open at the end", open)
			}
		})
	}
}

// A call that failed changed nothing.
func TestFailedWriteIsNoFile(t *testing.T) {
	var a runner.Account
	for i, failed := range []bool{true, false} {
		id := string(rune('a' + i))
		input := json.RawMessage(`{"file_path":"` + id + `.go"}`)
		a.Observe(&streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolUse, ID: id, Name: "Edit", Input: input}}})
		a.Observe(&streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id, Failed: failed}}})
	}
	var o runner.Outcome
	a.Fill(&o)
	if diff := cmp.Diff([]string{"b.go"}, o.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestAllowEntries(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"a.go"}`, "Write"},
		{"Bash", `{"command":"npm test"}`, "Bash(npm test:*)"},
		{"Bash", `{"command":"git commit -m \"a b\""}`, "Bash(git commit:*)"},
		{"Bash", `{"command":"ls -l /tmp"}`, "Bash(ls:*)"},
		{"Bash", `{"command":"git -C x status"}`, "Bash(git:*)"},
		{"Bash", `{"command":"cd x && rm -rf y"}`, "Bash"},
		{"Bash", `{"command":"A=1 make"}`, "Bash"},
		{"Bash", `{"command":""}`, "Bash"},
		{"WebFetch", `{"url":"https://go.dev/doc/x"}`, "WebFetch(domain:go.dev)"},
		{"mcp__dead-drop__send", `not json`, "mcp__dead-drop__send"},
	} {
		var a runner.Account
		a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{Denials: []streamjson.Denial{{Tool: c.tool, Input: json.RawMessage(c.input)}}}})
		var o runner.Outcome
		a.Fill(&o)
		if got := o.Denied[0].Allow; got != c.want {
			t.Errorf("%s %s is allowed by %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}
