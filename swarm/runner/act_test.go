package runner_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// A turn whose only acts were denied is told from one that did something: opencode ends its
// turn after a refusal, and Claude Code says that it was not permitted, and both report a
// success. Each case is a sequence of calls; "!" marks a denied one, "x" one that failed.
func TestOnlyDenied(t *testing.T) {
	const save, shell, look = runnertest.Save + ` {"path":"a"}`, runnertest.Shell + ` {"command":"make"}`, runnertest.Look + ` {"path":"a"}`
	own := func(command string) string { return runnertest.Shell + ` {"command":` + quoted(command) + `}` }
	for name, c := range map[string]struct {
		calls []string
		end   runner.End
		want  bool
	}{
		"nothing":                            {nil, runner.Done, false},
		"a denied write":                     {[]string{"!" + save}, runner.Done, true},
		"a denied write, twice":              {[]string{"!" + save, "!" + save}, runner.Done, true},
		"a write":                            {[]string{save}, runner.Done, false},
		"a write after a denial":             {[]string{"!" + save, save}, runner.Done, false},
		"a denial after a write":             {[]string{save, "!" + save}, runner.Done, false},
		"another way after a denial":         {[]string{"!" + save, shell}, runner.Done, false},
		"a read before a denial":             {[]string{look, "!" + save}, runner.Done, true},
		"a read after a denial":              {[]string{"!" + save, look}, runner.Done, true},
		"a denied read":                      {[]string{"!" + look}, runner.Done, false},
		"a denied read and a write":          {[]string{"!" + look, save}, runner.Done, false},
		"a failed write before a denial":     {[]string{"x" + save, "!" + save}, runner.Done, true},
		"a failed write":                     {[]string{"x" + save}, runner.Done, false},
		"our tool after a denial":            {[]string{"!" + save, `mcp__dead-drop__send {}`}, runner.Done, true},
		"our tool, denied":                   {[]string{`!mcp__dead-drop__send {}`}, runner.Done, false},
		"a tool of another server":           {[]string{"!" + save, `mcp__files__save {}`}, runner.Done, false},
		"a denied tool of another server":    {[]string{`!mcp__files__save {}`}, runner.Done, true},
		"our program after a denial":         {[]string{"!" + save, own(`claude-swarm reply "I may not; sorry (really)"`)}, runner.Done, true},
		"our program, text in single quotes": {[]string{"!" + save, own(`claude-swarm reply 'I may not $(x) | ";'`)}, runner.Done, true},
		"our program and another":            {[]string{"!" + save, own(`claude-swarm reply x; make`)}, runner.Done, false},
		"our program writes a file":          {[]string{"!" + save, own(`claude-swarm read x > a`)}, runner.Done, false},
		"our program runs another":           {[]string{"!" + save, own("claude-swarm reply \"`make`\"")}, runner.Done, false},
		"a program with such a name":         {[]string{"!" + save, own(`claude-swarm-x y`)}, runner.Done, false},
		"a turn that failed":                 {[]string{"!" + save}, runner.Failed, false},
		"a turn that was stopped":            {[]string{"!" + save}, runner.Stopped, false},
	} {
		t.Run(name, func(t *testing.T) {
			kind := new(runnertest.Scripted).Kind()
			a := runner.NewAccount(kind, runner.Place{})
			observe(&a, "", c.calls...)
			out := runner.Outcome{End: c.end}
			a.Fill(&out)
			if out.OnlyDenied != c.want {
				t.Errorf("OnlyDenied is %v, want %v", out.OnlyDenied, c.want)
			}
		})
	}
}

// A call that starts a sub-agent did something only if the sub-agent did. If the stream does
// not show what the sub-agent did, the call counts.
func TestOnlyDeniedSubAgent(t *testing.T) {
	const agent = `Agent {"prompt":"x"}`
	for name, c := range map[string]struct {
		calls []string
		inner []string
		want  bool
	}{
		"it was denied everything":   {[]string{agent}, []string{`!Write {}`}, true},
		"it only looked":             {[]string{agent, `!Write {}`}, []string{`Read {}`, `TaskCreate {}`}, true},
		"it wrote":                   {[]string{agent, `!Write {}`}, []string{`Write {}`}, false},
		"it is denied, we write":     {[]string{agent, `Write {}`}, []string{`!Write {}`}, false},
		"what it did is not known":   {[]string{agent, `!Write {}`}, nil, false},
		"the call itself was denied": {[]string{"!" + agent}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := runner.NewAccount(claude.Kind(), runner.Place{})
			call := func() { observe(&a, "", c.calls...) }
			if c.inner != nil {
				a.Observe(use("agent-1", "", c.calls[0]))
				inner := observed(&a, "agent-1", c.inner...)
				a.Observe(result("agent-1", "", false))
				call = func() { end(&a, append(inner, observed(&a, "", c.calls[1:]...)...)) }
			}
			call()
			out := runner.Outcome{End: runner.Done}
			a.Fill(&out)
			if out.OnlyDenied != c.want {
				t.Errorf("OnlyDenied is %v, want %v", out.OnlyDenied, c.want)
			}
		})
	}
}

func quoted(s string) string { data, _ := json.Marshal(s); return string(data) }

// observe passes the calls of a turn, and its result, to an account.
func observe(a *runner.Account, parent string, calls ...string) {
	end(a, observed(a, parent, calls...))
}

func end(a *runner.Account, denied []streamjson.Denial) {
	a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{Text: "I am sorry.", Denials: denied}})
}

func observed(a *runner.Account, parent string, calls ...string) (denied []streamjson.Denial) {
	for i, call := range calls {
		mark := call[0]
		if mark == '!' || mark == 'x' {
			call = call[1:]
		}
		id := parent + string(rune('a'+i))
		ev := use(id, parent, call)
		a.Observe(ev)
		a.Observe(result(id, parent, mark == '!' || mark == 'x'))
		if mark == '!' {
			denied = append(denied, streamjson.Denial{ID: id, Tool: ev.Blocks[0].Name, Input: ev.Blocks[0].Input})
		}
	}
	return denied
}

func use(id, parent, call string) *streamjson.Event {
	tool, input := call, ""
	for i := range call {
		if call[i] == ' ' {
			tool, input = call[:i], call[i+1:]
			break
		}
	}
	return &streamjson.Event{Kind: streamjson.KindAssistant, Parent: parent, Blocks: []streamjson.Block{{
		Kind: streamjson.BlockToolUse, ID: id, Name: tool, Input: json.RawMessage(input),
	}}}
}

func result(id, parent string, failed bool) *streamjson.Event {
	return &streamjson.Event{Kind: streamjson.KindUser, Parent: parent, Blocks: []streamjson.Block{{
		Kind: streamjson.BlockToolResult, ID: id, Failed: failed,
	}}}
}

// The same with streams of the real client.
func TestOnlyDeniedInTranscripts(t *testing.T) {
	for file, want := range map[string]bool{
		"transcripts/permission_denied.jsonl": true, "transcripts-330/permission_denied.jsonl": true,
		"transcripts/tool_use.jsonl": false, "transcripts/big_output.jsonl": false, "transcripts/subagent.jsonl": false, "transcripts-330/hello.jsonl": false,
	} {
		f, err := os.Open(filepath.Join("..", "..", "testdata", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		a := runner.NewAccount(claude.Kind(), runner.Place{})
		for dec := streamjson.NewDecoder(f, 0); ; {
			ev, err := dec.Next()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			a.Observe(ev)
		}
		out := runner.Outcome{End: runner.Done}
		a.Fill(&out)
		if out.OnlyDenied != want {
			t.Errorf("%s: OnlyDenied is %v, want %v", file, out.OnlyDenied, want)
		}
	}
}
