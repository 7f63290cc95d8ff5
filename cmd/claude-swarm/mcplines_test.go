package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/google/go-cmp/cmp"
)

// A toolsTalk is a client that can send arbitrary lines to the server.
type toolsTalk struct {
	t   *testing.T
	in  io.WriteCloser
	out chan string
}

func newToolsTalk(t *testing.T, env ...string) *toolsTalk {
	t.Helper()
	cmd := exec.Command(ourselves(t), "mcp")
	cmd.Dir, cmd.Env, cmd.Stderr = toolsProject(t), append([]string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}, env...), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &toolsTalk{t: t, in: in, out: make(chan string, 100)}
	go func() { // the cleanup function waits until this goroutine ends
		defer close(c.out)
		lines := bufio.NewScanner(stdout)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			c.out <- lines.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		for line := range c.out {
			t.Errorf("said at the end: %s", line)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return c
}

func (c *toolsTalk) say(lines ...string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, strings.Join(lines, "\n")+"\n"); err != nil {
		c.t.Fatalf("say %.200q: %v", lines, err)
	}
}

// hear returns a short form of the next line: the id and code of an error, or the id of a
// result.
func (c *toolsTalk) hear() any {
	c.t.Helper()
	select {
	case line, ok := <-c.out:
		if !ok {
			c.t.Fatal("the server has hung up")
		}
		var value any
		if err := json.Unmarshal([]byte(line), &value); err != nil {
			c.t.Fatalf("it said %q: %v", line, err)
		}
		return inShort(value)
	case <-time.After(scriptPatience):
		c.t.Fatal("no answer")
	}
	return nil
}

func inShort(value any) any {
	if list, ok := value.([]any); ok {
		for i := range list {
			list[i] = inShort(list[i])
		}
		return list
	}
	answer := value.(map[string]any)
	id, said := answer["id"]
	if !said {
		return "no id"
	}
	if e, ok := answer["error"].(map[string]any); ok {
		return []any{id, e["code"]}
	}
	return id
}

func (c *toolsTalk) hears(line string, want any) {
	c.t.Helper()
	c.say(line)
	if diff := cmp.Diff(want, c.hear()); diff != "" {
		c.t.Errorf("after %.100s (-want +got):\n%s", line, diff)
	}
}

func (c *toolsTalk) initialize(version string) {
	c.t.Helper()
	c.hears(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, "i")
	c.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

// For a line that is not a valid message, the server returns the error that JSON-RPC 2.0
// requires, and keeps the connection open.
func TestBadLines(t *testing.T) {
	parse, invalid := []any{nil, -32700.0}, []any{nil, -32600.0}
	bad := []struct {
		line string
		want any
	}{
		{"not json", parse},
		{"{bad", parse},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"} x`, parse},
		{ping + ping, parse},
		{`{"jsonrpc":"2.0","id":1,`, parse},
		{"\x00\xff", parse},
		{`5`, invalid},
		{`null`, invalid},
		{`"ping"`, invalid},
		{`{}`, invalid},
		{`{"id":3,"method":"ping"}`, []any{3.0, -32600.0}},
		{`{"jsonrpc":"1.0","id":"x","method":"ping"}`, []any{"x", -32600.0}},
		{`{"jsonrpc":"2.0","id":3}`, []any{3.0, -32600.0}},
		{`{"jsonrpc":"2.0","id":3,"method":5}`, []any{3.0, -32600.0}},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, invalid},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, invalid},
		{`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, invalid},
		{`{"jsonrpc":"2.0","id":3,"error":"no"}`, []any{3.0, -32600.0}},
		{`{"jsonrpc":"2.0","method":["ping"]}`, invalid},
		{`[]`, invalid},
		{strings.Repeat("[", 20_000), parse},
		{`{"jsonrpc":"2.0","id":3,"method":"ping","params":` + strings.Repeat("[", 5_000) + strings.Repeat("]", 5_000) + `}`, []any{3.0, -32600.0}},
		{strings.Repeat("x", 17<<20), parse},
	}
	c := newToolsTalk(t)
	for _, b := range bad {
		c.hears(b.line, b.want)
	}
	c.initialize("2025-06-18")
	for _, b := range bad {
		c.hears(b.line, b.want)
		c.hears(ping, 7.0)
	}
	c.say("", "  ", "\r") // empty lines are ignored
	c.say(`{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","id":98,"error":{"code":1,"message":"no"}}`)
	c.hears(ping, 7.0)
	c.hears(ping+"\r", 7.0)
	c.hears(`{"jsonrpc":"2.0","id":8,"method":"nothing/such"}`, []any{8.0, -32601.0})
}

// The server accepts batches in protocol version 2025-03-26 but not in later versions.
func TestBatches(t *testing.T) {
	note := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":55}}`
	batch := `[` + ping + `,` + note + `,{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"whoami","arguments":{}}}]`

	t.Run("2025-06-18", func(t *testing.T) {
		c := newToolsTalk(t)
		c.hears(batch, []any{nil, -32600.0})
		c.initialize("2025-06-18")
		c.hears(batch, []any{nil, -32600.0})
		c.hears(ping, 7.0)
	})
	t.Run("2025-03-26", func(t *testing.T) {
		c := newToolsTalk(t)
		c.initialize("2025-03-26")
		c.hears(batch, []any{7.0, "w"})
		c.hears(batch, []any{7.0, "w"}) // the ids can be used again
		c.hears(`[`+ping+`,5,`+ping+`,{"jsonrpc":"2.0","id":9}]`, []any{7.0, []any{nil, -32600.0}, []any{7.0, -32600.0}, []any{9.0, -32600.0}})
		c.hears(`[1,2]`, []any{[]any{nil, -32600.0}, []any{nil, -32600.0}})
		c.hears(`[]`, []any{nil, -32600.0})
		c.hears(`[{"jsonrpc":"2.0","id":4,"method":"initialize","params":{}}]`, []any{[]any{4.0, -32600.0}})
		c.say(`[` + note + `]`) // a batch of notifications requires no response
		c.hears(ping, 7.0)
	})
}

// The server creates the file for runner.ReadyVar only when the client lists the tools.
func TestSaysThatToolsWereListed(t *testing.T) {
	ready := filepath.Join(t.TempDir(), "ready")
	c := newToolsTalk(t, runner.ReadyVar+"="+ready)
	c.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`)
	c.hear()
	if _, err := os.Stat(ready); err == nil {
		t.Error("the client has not asked for the list of tools, and counts as ready")
	}
	c.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	c.hear()
	if _, err := os.Stat(ready); err != nil {
		t.Errorf("the client has the list of tools, and does not count as ready: %v", err)
	}
}
