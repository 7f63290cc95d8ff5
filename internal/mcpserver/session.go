package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// versions lists the protocol versions that the server supports, newest first. A client
// that requests any other version gets the newest one.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// lastWithBatches is the last protocol version that supports batches of messages.
const lastWithBatches = "2025-03-26"

// A session serves one client. Tool calls run in parallel; all other requests are answered
// in order.
type session struct {
	*Server
	out     *lineWriter
	version string // the protocol version agreed with the client; "" before the agreement

	calls   sync.WaitGroup
	mu      sync.Mutex
	running map[string]context.CancelFunc // unanswered calls, by the keys of their ids
}

// Serve answers the lines that a client sends, until the client closes its end of the
// connection or ctx is done. Serve then cancels the calls that are still running and
// waits for them to end.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	c := &session{Server: s, out: &lineWriter{w: w}, running: map[string]context.CancelFunc{}}
	defer c.calls.Wait()
	defer cancel()
	type read struct {
		line []byte
		err  error
	}
	lines := make(chan read)
	go func() { // Serve does not wait for this goroutine: its read ends with the stream or, at the latest, with the process
		in := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := readLine(in)
			select {
			case lines <- read{line, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errLongLine) {
				return
			}
		}
	}()
	for {
		var l read
		select {
		case l = <-lines:
		case <-ctx.Done():
			return nil
		}
		switch {
		case errors.Is(l.err, errLongLine):
			c.out.write(refusal(nil, faultf(codeParse, "%v", l.err)))
		case len(l.line) > 0:
			c.handle(ctx, l.line)
		}
		if err := c.out.failed(); err != nil {
			return err
		}
		if errors.Is(l.err, io.EOF) {
			return nil
		} else if l.err != nil && !errors.Is(l.err, errLongLine) {
			return l.err
		}
	}
}

// handle answers one line.
func (c *session) handle(ctx context.Context, line []byte) {
	switch {
	case !json.Valid(line):
		c.out.write(refusal(nil, faultf(codeParse, "the line is not JSON")))
	case line[0] == '[':
		c.handleBatch(ctx, line)
	default:
		m, err := readMessage(line)
		if err != nil {
			c.out.write(refusal(m.id, faultf(codeInvalidRequest, "%v", err)))
			return
		}
		c.dispatch(ctx, m, func(said []byte) {
			if said != nil {
				c.out.write(said)
			}
		})
	}
}

// handleBatch answers the messages of a batch together, in order, when all answers are
// ready.
func (c *session) handleBatch(ctx context.Context, line []byte) {
	refuse := func(format string, args ...any) {
		c.out.write(refusal(nil, faultf(codeInvalidRequest, format, args...)))
	}
	var list []json.RawMessage
	switch err := json.Unmarshal(line, &list); {
	case c.version == "":
		refuse("no batch is allowed before initialize")
		return
	case c.version > lastWithBatches:
		refuse("protocol version %s has no batches: each message must be on its own line", c.version)
		return
	case err != nil || len(list) == 0:
		refuse("the batch is empty")
		return
	}
	answers, seen := make([]json.RawMessage, len(list)), map[string]bool{}
	var pending sync.WaitGroup
	for i, one := range list {
		m, err := readMessage(bytes.TrimSpace(one))
		switch {
		case err != nil:
		case m.method == "initialize":
			err = errors.New("initialize must not be in a batch")
		case m.key != "" && m.method != "" && seen[m.key]:
			err = errors.New("another request with that id has not been answered yet")
		}
		if err != nil {
			answers[i] = refusal(m.id, faultf(codeInvalidRequest, "%v", err))
			continue
		}
		seen[m.key] = true
		pending.Add(1)
		c.dispatch(ctx, m, func(said []byte) {
			answers[i] = said
			pending.Done()
		})
	}
	c.calls.Go(func() {
		pending.Wait()
		answers = slices.DeleteFunc(answers, func(a json.RawMessage) bool { return a == nil })
		if len(answers) == 0 {
			return // the batch contains nothing that needs an answer
		}
		data, err := json.Marshal(answers)
		if err != nil {
			data = refusal(nil, faultf(codeInvalidRequest, "%v", err))
		}
		c.out.write(data)
	})
}

// dispatch handles a message and calls say exactly once with the answer, or with nil if
// the message gets no answer.
func (c *session) dispatch(ctx context.Context, m message, say func([]byte)) {
	switch {
	case m.method == "notifications/cancelled" && m.key == "":
		c.cancel(m.params)
		say(nil)
	case m.method == "" || m.key == "": // responses and notifications get no answer
		say(nil)
	case m.method == "tools/call":
		c.begin(ctx, m, say)
	default:
		result, err := c.answer(m)
		if err != nil {
			say(refusal(m.id, err))
			return
		}
		say(success(m.id, result))
	}
}

// answer returns the answer to a request other than a tool call.
func (c *session) answer(m message) (any, *fault) {
	switch m.method {
	case "initialize":
		return c.initialize(m.params)
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		if c.opts.Listed != nil {
			c.opts.Listed()
		}
		return struct {
			Tools []*Tool `json:"tools"`
		}{c.listed}, nil
	}
	return nil, faultf(codeNoMethod, "method not found: %q", m.method)
}

func (c *session) initialize(params json.RawMessage) (any, *fault) {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(params, &asked); err != nil || asked.Version == "" {
		return nil, faultf(codeInvalidParams, "initialize has no protocolVersion")
	}
	if c.version = asked.Version; !slices.Contains(versions, c.version) {
		c.version = versions[0]
	}
	type info struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	told := instructions
	if c.opts.Turn {
		told = ""
	}
	return struct {
		Version      string         `json:"protocolVersion"`
		Capabilities map[string]any `json:"capabilities"`
		Info         info           `json:"serverInfo"`
		Instructions string         `json:"instructions,omitempty"`
	}{c.version, map[string]any{"tools": struct{}{}}, info{runner.ToolServer, "claude-swarm", c.opts.Version}, told}, nil
}

// begin starts a tool call. If the client cancels the call, the server does not answer
// it.
func (c *session) begin(ctx context.Context, m message, say func([]byte)) {
	var asked struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(m.params, &asked); err != nil {
		say(refusal(m.id, faultf(codeInvalidParams, "tools/call needs the name of a tool, and its arguments")))
		return
	}
	t, ok := c.tools[asked.Name]
	if !ok {
		say(refusal(m.id, faultf(codeInvalidParams, "unknown tool %q", asked.Name)))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	if err := c.register(m.key, cancel); err != nil {
		cancel()
		say(refusal(m.id, faultf(codeInvalidRequest, "%v", err)))
		return
	}
	c.calls.Go(func() {
		defer cancel()
		out := c.run(ctx, t, asked.Arguments)
		if c.unregister(m.key) {
			say(success(m.id, out))
		} else {
			say(nil)
		}
	})
}

// register records that a call has begun. It returns an error if a call with the same id
// is already running.
func (c *session) register(key string, cancel context.CancelFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[key] != nil {
		return errors.New("another request with that id has not been answered yet")
	}
	c.running[key] = cancel
	return nil
}

// unregister records that a call has ended; it returns false if the client has cancelled
// the call.
func (c *session) unregister(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, runs := c.running[key]
	delete(c.running, key)
	return runs
}

// cancel handles the client's cancellation of a call.
func (c *session) cancel(params json.RawMessage) {
	var asked struct {
		ID json.RawMessage `json:"requestId"`
	}
	if err := json.Unmarshal(params, &asked); err != nil {
		return // a notification gets no answer
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := keyOf(asked.ID); c.running[key] != nil {
		c.running[key]()
		delete(c.running, key)
	}
}

// withWhispers is a result preceded by whispers. The structure also contains the
// whispers, because Claude Code shows its model only the structure.
type withWhispers struct {
	whispers []string
	result   result
}

func (w withWhispers) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal(w.result)
	if err != nil || len(data) < 2 || data[0] != '{' {
		return data, err
	}
	whispers, err := json.Marshal(w.whispers)
	if err != nil {
		return nil, err
	}
	sep := ","
	if bytes.Equal(data, []byte("{}")) {
		sep = ""
	}
	return fmt.Appendf(nil, `{"supervisor":%s%s%s`, whispers, sep, data[1:]), nil
}

// A callResult is the result of a call, both as a structure and as text; each form is
// complete.
type callResult struct {
	Content    []textContent `json:"content"`
	Structured any           `json:"structuredContent,omitempty"`
	IsError    bool          `json:"isError,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// run executes one tool call. It returns an error from the call as a result, because the
// model has to read it.
func (c *session) run(ctx context.Context, t offered, arguments json.RawMessage) callResult {
	out, whispers, err := c.call(ctx, t, arguments)
	var content []textContent
	if len(whispers) > 0 {
		content = append(content, textContent{"text", strings.Join(whispers, "\n")})
	}
	if err != nil {
		text := inBrief(fmt.Sprintf("%s: %v", t.described.Name, advised(err)))
		return callResult{Content: append(content, textContent{"text", text}), IsError: true}
	}
	shown := callResult{Content: append(content, textContent{"text", out.readable()}), Structured: out}
	if len(whispers) > 0 {
		shown.Structured = withWhispers{whispers, out}
	}
	return shown
}
