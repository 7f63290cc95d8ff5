package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
)

// served is a running server, with the streams to and from its client.
type served struct {
	t   *testing.T
	in  *io.PipeWriter
	out *bufio.Scanner
	end chan error
}

func serve(t *testing.T, ctx context.Context, server *mcpserver.Server) *served {
	t.Helper()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	s := &served{t: t, in: in, out: bufio.NewScanner(out), end: make(chan error, 1)}
	s.out.Buffer(nil, 1<<20)
	go func() {
		err := server.Serve(ctx, requests, answers)
		answers.Close()
		s.end <- err
	}()
	t.Cleanup(func() { in.Close() })
	return s
}

func (s *served) say(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// hear returns the next line from the server, or "" at the end of the stream.
func (s *served) hear() string {
	if !s.out.Scan() {
		return ""
	}
	return s.out.Text()
}

// ended waits for the server to stop.
func (s *served) ended() {
	s.t.Helper()
	select {
	case err := <-s.end:
		if err != nil {
			s.t.Errorf("Serve = %v", err)
		}
	case <-time.After(patience):
		s.t.Fatal("the server does not end")
	}
}

func TestVersionsOfTheProtocol(t *testing.T) {
	for asked, want := range map[string]string{
		"2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26", "2024-11-05": "2024-11-05",
		"1999-01-01": "2025-11-25", "2099-01-01": "2025-11-25",
	} {
		s := serve(t, t.Context(), mcpserver.New(mcpserver.Options{Version: "7"}))
		s.say(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + asked + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		var got struct {
			Result struct {
				ProtocolVersion string
				ServerInfo      map[string]string
				Capabilities    map[string]any
			}
		}
		line := s.hear()
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Result.ProtocolVersion != want {
			t.Errorf("asked for %s: %s, %v, want %s", asked, line, err, want)
		}
		if diff := cmp.Diff(map[string]string{"name": "dead-drop", "title": "claude-swarm", "version": "7"}, got.Result.ServerInfo); diff != "" {
			t.Error(diff)
		}
		if _, ok := got.Result.Capabilities["tools"]; !ok || len(got.Result.Capabilities) != 1 {
			t.Errorf("capabilities %v, want tools alone", got.Result.Capabilities)
		}
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	s := serve(t, t.Context(), mcpserver.New(mcpserver.Options{}))
	for _, c := range [][2]string{
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"method not found: \"prompts/list\""}}`},
		{`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"no_such","arguments":{}}}`, `{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"unknown tool \"no_such\""}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"tools/call needs the name of a tool, and its arguments"}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"initialize"}`, `{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"initialize has no protocolVersion"}}`},
		{`{"jsonrpc":"2.0","id":4,"METHOD":"ping","method":"ping"}`, `{"jsonrpc":"2.0","id":4,"result":{}}`},
		{`{"jsonrpc":"2.0","ID":5,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":6,"method":"ping"}`, `{"jsonrpc":"2.0","id":6,"result":{}}`}, // without an id, the message is a notification
	} {
		s.say(c[0])
		if got := s.hear(); got != c[1] {
			t.Errorf("after %s\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

// waiting returns a server whose calls block until let is closed. Each call sends a value to
// begun when it begins.
func waiting(let <-chan struct{}) (server *mcpserver.Server, begun chan struct{}) {
	begun = make(chan struct{}, 10)
	return mcpserver.New(mcpserver.Options{
		Open: func(context.Context) (*mcpserver.Caller, error) {
			begun <- struct{}{}
			<-let
			return nil, errors.New("let go")
		},
	}), begun
}

const (
	callOne = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami"}}`
	answer1 = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"whoami: let go"}],"isError":true}}`
)

// While a call is running, the server answers other requests. The id of a call cannot be
// reused until the call has been answered.
func TestACallRunsBesideOthers(t *testing.T) {
	let := make(chan struct{})
	server, begun := waiting(let)
	s := serve(t, t.Context(), server)
	s.say(callOne)
	<-begun
	s.say(callOne)
	if got := s.hear(); !strings.Contains(got, `"id":1,"error":{"code":-32600,`) || !strings.Contains(got, "not been answered yet") {
		t.Errorf("a second call with the id: %s", got)
	}
	s.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := s.hear(); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("a ping while a call runs: %s", got)
	}
	close(let)
	if got := s.hear(); got != answer1 {
		t.Errorf("the call: %s", got)
	}
	s.say(callOne) // the id can be reused now
	if got := s.hear(); got != answer1 {
		t.Errorf("the call, once more: %s", got)
	}
}

// The server does not answer a call that the client has cancelled, and the id can be
// reused.
func TestACallIsTakenBack(t *testing.T) {
	let := make(chan struct{})
	server, begun := waiting(let)
	s := serve(t, t.Context(), server)
	s.say(callOne)
	<-begun
	s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	s.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`) // there is no such call
	s.say(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if got := s.hear(); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("after the call was taken back: %s", got)
	}
	s.say(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if got := s.hear(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("a request with the id of the call that was taken back: %s", got)
	}
	close(let)
	s.in.Close()
	if got := s.hear(); got != "" {
		t.Errorf("a call that was taken back is answered: %s", got)
	}
	s.ended()
}

// A call that is running when the input ends still gets its answer. When the context is
// done, the server stops without waiting for the client.
func TestTheEndOfASession(t *testing.T) {
	let := make(chan struct{})
	server, begun := waiting(let)
	s := serve(t, t.Context(), server)
	s.say(callOne)
	<-begun
	s.in.Close()
	close(let)
	if got := s.hear(); got != answer1 {
		t.Errorf("at the end of the stream: %s", got)
	}
	s.ended()

	ctx, cancel := context.WithCancel(t.Context())
	s = serve(t, ctx, server)
	cancel()
	s.ended()
}

// For any input from a client, each answer is a JSON-RPC 2.0 message or an array of such
// messages, and the server stops when the input ends.
func FuzzSession(f *testing.F) {
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}` + "\n"
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	f.Add([]byte(hello + `[{"jsonrpc":"2.0","id":1,"method":"ping"},5,` + callOne + `]` + "\n"))
	f.Add([]byte(hello + "\x00\n{}\n[]\n" + callOne))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami","arguments":{"a":[[]]}}}`))
	f.Fuzz(func(t *testing.T, said []byte) {
		server := mcpserver.New(mcpserver.Options{Open: func(context.Context) (*mcpserver.Caller, error) { return nil, errors.New("no project") }})
		var out strings.Builder
		if err := server.Serve(context.Background(), bytes.NewReader(said), &out); err != nil {
			t.Fatalf("Serve = %v", err)
		}
		for line := range strings.Lines(out.String()) {
			var list []struct{ JSONRPC string }
			if !strings.HasPrefix(line, "[") {
				line = "[" + line + "]"
			}
			if err := json.Unmarshal([]byte(line), &list); err != nil || len(list) == 0 || list[0].JSONRPC != "2.0" {
				t.Fatalf("%q is answered with %q: %v", said, line, err)
			}
		}
	})
}
