package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// maxContext is the maximum size of our additions to an agent's first request, in tokens,
// with IRC off. An agent needs 50 of these tokens to see its remaining budget and to
// choose who answers its question. Without this information, an agent spends more than 50
// extra tokens. The tool tasks and the key depends_on take 84: with them, an agent that plans
// reads one short list instead of asking each agent, and sends work in its order at once.
const maxContext = 2640

// Our share of an agent's first request stays small: the tools, the system prompt, and the
// frame of the message.
func TestWhatWeAddToTheFirstRequest(t *testing.T) {
	t.Parallel()
	if tokens := addedContext(t); tokens > maxContext {
		t.Errorf("we add %d tokens to the first request, want at most %d", tokens, maxContext)
	}
}

// BenchmarkContext reports the number of tokens that TestWhatWeAddToTheFirstRequest
// limits.
func BenchmarkContext(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(float64(addedContext(b)), "tokens")
	}
}

// addedContext counts the additional tokens in an agent's first request, compared with the
// first request of the same client with the same options and message, but without our
// tools, system prompt and frame. Four characters count as one token.
func addedContext(t testing.TB) int {
	t.Helper()
	const message = "Work"
	p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`,
		"  coder: {role: coder}\n  reviewer: {role: reviewer}\n")
	recorded := filepath.Join(filepath.Dir(p.dir), "recorded")
	recorder := recorded + ".sh"
	script := fmt.Sprintf(`#!/bin/sh
if [ "$1" = -p ]; then
	printf '%%s\0' "$@" >%[1]s.args
	env -0 >%[1]s.env
fi
exec %[2]s "$@"
`, recorded, cli)
	if err := execfile.Write(recorder, []byte(script)); err != nil {
		t.Fatal(err)
	}
	p.write("claude-swarm.yaml", strings.Replace(p.read("claude-swarm.yaml"), "command: "+cli, "command: "+recorder, 1))
	p.start()
	p.receipt("coder", p.send("coder", message))
	p.swarm("stop")

	read := func(ext string) []string {
		data, err := os.ReadFile(recorded + ext)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(data), "\x00"), "\x00")
	}
	args := read(".args")
	for _, flag := range []string{"--append-system-prompt-file", "--mcp-config", "--session-id"} {
		i := slices.Index(args, flag)
		if i < 0 {
			t.Fatalf("the client runs without %s: %q", flag, args)
		}
		args = slices.Delete(args, i, i+2)
	}
	bare := exec.CommandContext(t.Context(), cli, args...)
	bare.Dir, bare.Env = p.dir, read(".env")
	bare.Stdin = strings.NewReader(`{"type":"user","message":{"role":"user","content":"` + message + `"}}` + "\n")
	if out, err := bare.CombinedOutput(); err != nil {
		t.Fatalf("the client without what is ours: %v\n%s", err, out)
	}

	var requests []fakeapi.Request
	for _, r := range p.api.Requests() {
		if r.Kind == fakeapi.Main {
			requests = append(requests, r)
		}
	}
	if len(requests) != 2 {
		t.Fatalf("%d requests, want one of the agent and one of the client alone", len(requests))
	}
	with, tools := contextOf(t, requests[0].Body)
	without, none := contextOf(t, requests[1].Body)
	if tools == 0 || none > 0 {
		t.Fatalf("%d tools of ours in the agent's request and %d in that of the client alone", tools, none)
	}
	t.Logf("%d characters, of which %d are the client's; %d tools", with, without, tools)
	return (with - without + 3) / 4
}

// contextOf counts the characters in the parts of a request that a model reads (tools,
// system prompts and messages). ours is the number of our tools in the request.
func contextOf(t testing.TB, body []byte) (characters, ours int) {
	t.Helper()
	type block struct{ Text string }
	var request struct {
		Tools    []json.RawMessage
		System   []block
		Messages []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	for _, raw := range request.Tools {
		var tool struct{ Name string }
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		characters += utf8.RuneCount(raw)
		if strings.HasPrefix(tool.Name, "mcp__"+runner.ToolServer+"__") {
			ours++
		}
	}
	for _, b := range request.System {
		characters += utf8.RuneCountInString(b.Text)
	}
	for _, m := range request.Messages {
		characters += utf8.RuneCountInString(flatten(m.Content))
	}
	return characters, ours
}
