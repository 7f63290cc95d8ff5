package acpstandin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A message is one line of the dialogue: a request, a notification, a response or an error.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *rpcError       `json:"error,omitempty"`
}

// An rpcError is a JSON-RPC error.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return fmt.Sprintf("%d: %s", e.Code, e.Message) }

func notFound(method string) *rpcError {
	return &rpcError{Code: -32601, Message: fmt.Sprintf("%q: %s", "Method not found", method), Data: map[string]any{"method": method}}
}

func invalid(format string, args ...any) *rpcError {
	return &rpcError{Code: -32602, Message: "Invalid params", Data: map[string]any{"details": fmt.Sprintf(format, args...)}}
}

// A conn is the agent's side of the dialogue. It is safe for concurrent use.
type conn struct {
	in *bufio.Reader

	mu    sync.Mutex
	spoil func(kind string, line []byte) []byte // changes what a bad client writes; nil in other clients
	out   io.Writer
	next  int
	open  map[string]chan message // unanswered questions, by id
}

func newConn(in io.Reader, out io.Writer) *conn {
	return &conn{in: bufio.NewReaderSize(in, 1<<20), out: out, open: map[string]chan message{}}
}

// read returns the next message from the client.
func (c *conn) read() (message, error) {
	var m message
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return m, err // a line without a newline does not count
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, &rpcError{Code: -32700, Message: "Parse error", Data: err.Error()}
	}
	return m, nil
}

// write writes one line. kind identifies the message for spoil.
func (c *conn) write(kind string, fields map[string]any) {
	fields["jsonrpc"] = "2.0"
	line := encode(fields)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spoil != nil {
		line = c.spoil(kind, line)
	}
	if len(line) > 0 {
		c.out.Write(append(line, '\n')) // an error needs no handling, because a program that has exited has also closed our input
	}
}

func (c *conn) notify(method string, params any) {
	c.write(method, map[string]any{"method": method, "params": params})
}

// answer responds to a request.
func (c *conn) answer(to message, result any, err error) {
	fields := map[string]any{"id": to.ID}
	if err == nil {
		fields["result"] = result
	} else if e, ok := errors.AsType[*rpcError](err); ok {
		fields["error"] = e
	} else {
		fields["error"] = &rpcError{Code: -32603, Message: "Internal error", Data: map[string]any{"details": err.Error()}}
	}
	c.write(to.Method, fields)
}

// ask sends a request. The channel receives the answer.
func (c *conn) ask(method string, params any) <-chan message {
	answer := make(chan message, 1)
	c.mu.Lock()
	id := c.next
	c.next++
	c.open[fmt.Sprint(id)] = answer
	c.mu.Unlock()
	c.write(method, map[string]any{"id": id, "method": method, "params": params})
	return answer
}

// answered passes an answer to the goroutine that sent the request. It returns false if
// no open request has this answer's id.
func (c *conn) answered(m message) bool {
	c.mu.Lock()
	answer := c.open[string(m.ID)]
	delete(c.open, string(m.ID))
	c.mu.Unlock()
	if answer == nil {
		return false
	}
	answer <- m
	return true
}

// encode returns value as JSON. It cannot fail for the values that this package encodes.
func encode(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("acpstandin: %v", err))
	}
	return data
}
