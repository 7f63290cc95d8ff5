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
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The versions of the protocol that the server speaks, the newest first. A client that
// asks for another one is offered the newest.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// lastWithBatches is the last version of the protocol that has batches of messages.
const lastWithBatches = "2025-03-26"

// A session is the talk with one client. A call of a tool runs beside the others; all else
// is answered in its turn.
type session struct {
	*Server
	out     *lineWriter
	version string // of the protocol, as it was answered; "" before

	calls   sync.WaitGroup
	mu      sync.Mutex
	running map[string]context.CancelFunc // the calls that are not answered, by their keys
}

// Serve answers a client that speaks in lines until it hangs up or ctx is done. Calls that
// run then are ended and waited for.
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
	go func() { // a read cannot be broken off: it ends with the stream, at the latest with the process
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
			c.out.write(refusal(nil, wrongf(codeParse, "%v", l.err)))
		case len(l.line) > 0:
			c.take(ctx, l.line)
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

// take answers one line.
func (c *session) take(ctx context.Context, line []byte) {
	switch {
	case !json.Valid(line):
		c.out.write(refusal(nil, wrongf(codeParse, "the line is not JSON")))
	case line[0] == '[':
		c.takeBatch(ctx, line)
	default:
		m, err := readMessage(line)
		if err != nil {
			c.out.write(refusal(m.id, wrongf(codeInvalidRequest, "%v", err)))
			return
		}
		c.do(ctx, m, func(said []byte) {
			if said != nil {
				c.out.write(said)
			}
		})
	}
}

// takeBatch answers the messages of an array together, in their order, when the last has
// its answer.
func (c *session) takeBatch(ctx context.Context, line []byte) {
	refuse := func(format string, args ...any) {
		c.out.write(refusal(nil, wrongf(codeInvalidRequest, format, args...)))
	}
	var list []json.RawMessage
	switch err := json.Unmarshal(line, &list); {
	case c.version == "":
		refuse("no batch before the initialize")
		return
	case c.version > lastWithBatches:
		refuse("the protocol %s has no batches: each message stands on a line", c.version)
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
			err = errors.New("initialize stands for itself, in no batch")
		case m.key != "" && m.method != "" && seen[m.key]:
			err = errors.New("another request with that id is not answered yet")
		}
		if err != nil {
			answers[i] = refusal(m.id, wrongf(codeInvalidRequest, "%v", err))
			continue
		}
		seen[m.key] = true
		pending.Add(1)
		c.do(ctx, m, func(said []byte) {
			answers[i] = said
			pending.Done()
		})
	}
	c.calls.Go(func() {
		pending.Wait()
		answers = slices.DeleteFunc(answers, func(a json.RawMessage) bool { return a == nil })
		if len(answers) == 0 {
			return // nothing in it is answered
		}
		data, err := json.Marshal(answers)
		if err != nil {
			data = refusal(nil, wrongf(codeInvalidRequest, "%v", err))
		}
		c.out.write(data)
	})
}

// do does what a message says, and calls say once with the answer: nil for none.
func (c *session) do(ctx context.Context, m message, say func([]byte)) {
	switch {
	case m.method == "notifications/cancelled" && m.key == "":
		c.cancel(m.params)
		say(nil)
	case m.method == "" || m.key == "": // an answer to us, or a notification: nothing follows
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

// answer answers what needs no time.
func (c *session) answer(m message) (any, *wrong) {
	switch m.method {
	case "initialize":
		return c.initialize(m.params)
	case "ping":
		return struct{}{}, nil
	case "tools/list":
		return struct {
			Tools []*Tool `json:"tools"`
		}{c.listed}, nil
	}
	return nil, wrongf(codeNoMethod, "method not found: %q", m.method)
}

func (c *session) initialize(params json.RawMessage) (any, *wrong) {
	var asked struct {
		Version string `json:"protocolVersion"`
	}
	if err := json.Unmarshal(params, &asked); err != nil || asked.Version == "" {
		return nil, wrongf(codeInvalidParams, "initialize names no protocolVersion")
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

// begin begins a call of a tool. A call that the client takes back is not answered.
func (c *session) begin(ctx context.Context, m message, say func([]byte)) {
	var asked struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(m.params, &asked); err != nil {
		say(refusal(m.id, wrongf(codeInvalidParams, "tools/call needs the name of a tool, and its arguments")))
		return
	}
	t, ok := c.tools[asked.Name]
	if !ok {
		say(refusal(m.id, wrongf(codeInvalidParams, "unknown tool %q", asked.Name)))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	if err := c.note(m.key, cancel); err != nil {
		cancel()
		say(refusal(m.id, wrongf(codeInvalidRequest, "%v", err)))
		return
	}
	c.calls.Go(func() {
		defer cancel()
		out := c.run(ctx, t, asked.Arguments)
		if c.forget(m.key) {
			say(success(m.id, out))
		} else {
			say(nil)
		}
	})
}

// note notes a call that runs. The error says that one with its id does.
func (c *session) note(key string, cancel context.CancelFunc) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running[key] != nil {
		return errors.New("another request with that id is not answered yet")
	}
	c.running[key] = cancel
	return nil
}

// forget notes that a call has ended; false when the client took it back before.
func (c *session) forget(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, runs := c.running[key]
	delete(c.running, key)
	return runs
}

// cancel takes back a call.
func (c *session) cancel(params json.RawMessage) {
	var asked struct {
		ID json.RawMessage `json:"requestId"`
	}
	if err := json.Unmarshal(params, &asked); err != nil {
		return // nobody waits for an answer
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := keyOf(asked.ID); c.running[key] != nil {
		c.running[key]()
		delete(c.running, key)
	}
}

// A callResult is what a call of a tool gives, whole as a structure and as text.
type callResult struct {
	Content    []textContent `json:"content"`
	Structured any           `json:"structuredContent,omitempty"`
	IsError    bool          `json:"isError,omitempty"`
}

type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// run runs one call of a tool. What is wrong with it is for the model, so it is a result.
func (c *session) run(ctx context.Context, t offered, arguments json.RawMessage) callResult {
	out, err := c.call(ctx, t, arguments)
	if err != nil {
		text := inBrief(fmt.Sprintf("%s: %v", t.described.Name, advised(err)))
		return callResult{Content: []textContent{{"text", text}}, IsError: true}
	}
	return callResult{Content: []textContent{{"text", out.readable()}}, Structured: out}
}
