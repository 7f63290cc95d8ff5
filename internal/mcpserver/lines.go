package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine bounds a message of the client, in bytes.
const maxLine = 16 << 20

// lastWithBatches is the last version of the protocol that has batches of messages.
const lastWithBatches = "2025-03-26"

// Lines is the transport over a pair of streams with a message on each line. The one of
// the SDK ends at the first line that is not a message; here the client gets the error that
// JSON-RPC 2.0 names, and the server goes on.
func Lines(r io.Reader, w io.Writer) mcp.Transport {
	out := &lineWriter{w: w, awaited: map[string]place{}}
	in := &lineReader{r: bufio.NewReaderSize(r, 64<<10), out: out}
	return &mcp.IOTransport{Reader: io.NopCloser(in), Writer: out, MaxLineLength: -1} // in bounds the lines
}

// A lineReader passes on the lines that are messages, and answers the others. One
// goroutine reads.
type lineReader struct {
	r    *bufio.Reader
	out  *lineWriter
	left []byte // of what was passed on last
}

// Read gives what is left of a message, or reads lines until one is a message.
func (l *lineReader) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		line, err := l.line()
		if errors.Is(err, errLongLine) {
			l.out.refuse(nil, jsonrpc.CodeParseError, err)
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l.take(line)
		}
		if err != nil && len(l.left) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
}

var errLongLine = fmt.Errorf("a message has at most %d bytes", maxLine)

// line reads a line. What is longer than a line may be is read and forgotten.
func (l *lineReader) line() ([]byte, error) {
	var line []byte
	for long := false; ; {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && err == nil:
			return nil, errLongLine
		default:
			return line, err
		}
	}
}

// take passes a line on, or answers it.
func (l *lineReader) take(line []byte) {
	if !json.Valid(line) {
		l.out.refuse(nil, jsonrpc.CodeParseError, errors.New("the line is not JSON"))
		return
	}
	if line[0] == '[' {
		l.takeBatch(line)
		return
	}
	m, err := inspect(line)
	if err != nil {
		l.out.refuse(m.ID, jsonrpc.CodeInvalidRequest, err)
		return
	}
	if m.Method == "initialize" {
		l.out.awaitVersion(m.key)
	}
	l.left = append(line, '\n')
}

// takeBatch passes on the messages of a batch, one a line. Their answers are gathered.
func (l *lineReader) takeBatch(line []byte) {
	if err := l.out.mayBatch(); err != nil {
		l.out.refuse(nil, jsonrpc.CodeInvalidRequest, err)
		return
	}
	var list []json.RawMessage
	if err := json.Unmarshal(line, &list); err != nil || len(list) == 0 {
		l.out.refuse(nil, jsonrpc.CodeInvalidRequest, errors.New("the batch is empty"))
		return
	}
	b := new(batch)
	var passed []byte
	for _, one := range list {
		m, err := inspect(one)
		switch {
		case err == nil && m.Method == "initialize":
			err = errors.New("initialize stands for itself, in no batch")
		case err == nil && m.key != "" && m.Method != "":
			err = l.out.expect(m.key, b)
		}
		if err != nil {
			b.answers = append(b.answers, refusal(m.ID, jsonrpc.CodeInvalidRequest, err))
			continue
		}
		passed = append(append(passed, one...), '\n')
	}
	l.out.close(b)
	l.left = passed
}

// A received is what is looked at of a message.
type received struct {
	ID     json.RawMessage // nil where it has none that could be answered
	Method string
	key    string // the same for the same id; "" for none
}

// inspect tells whether data is a message that the SDK can read.
func inspect(data []byte) (received, error) {
	var m received
	var shape struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if data[0] != '{' {
		return m, errors.New("a message is a JSON object")
	}
	if err := json.Unmarshal(data, &shape); err != nil {
		return m, err
	}
	if shape.ID != nil {
		if m.key = keyOf(shape.ID); m.key == "" {
			return m, errors.New("an id is a string or a whole number")
		}
		m.ID = shape.ID
	}
	if shape.Method == nil && shape.Result == nil && shape.Error == nil {
		return m, errors.New("a message has a method, a result or an error")
	}
	if _, err := jsonrpc.DecodeMessage(data); err != nil {
		return m, err
	}
	if shape.Method != nil {
		return m, json.Unmarshal(shape.Method, &m.Method)
	}
	return m, nil
}

// keyOf is the same text for the same id, however it is written; "" when it is none.
func keyOf(id json.RawMessage) string {
	var value any
	if err := json.Unmarshal(id, &value); err != nil {
		return ""
	}
	switch v := value.(type) {
	case string:
		return "s" + v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return fmt.Sprintf("n%.0f", v)
		}
	}
	return ""
}

// refusal is the answer to what is not a request. Without an id it is null.
func refusal(id json.RawMessage, code int64, err error) json.RawMessage {
	if id == nil {
		id = json.RawMessage("null")
	}
	answer, _ := json.Marshal(struct { // of its own types: it does not fail
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, &jsonrpc.Error{Code: code, Message: err.Error()}})
	return answer
}

// A batch gathers the answers to the messages of one array, in their order.
type batch struct {
	answers []json.RawMessage // nil: still to come
	pending int
}

// A place is where in a batch an answer goes.
type place struct {
	batch *batch
	at    int
}

// A lineWriter writes the lines of the server, each whole, and those to a batch together.
type lineWriter struct {
	mu      sync.Mutex
	w       io.Writer
	awaited map[string]place // by the keys of the requests of batches that are not answered
	asked   string           // the key of the initialize that is not answered
	version string           // of the protocol, as the server answered; "" before
}

// Close leaves the stream open: it is not ours.
func (l *lineWriter) Close() error { return nil }

// Write takes one message of the SDK, which writes each with its line end at once.
func (l *lineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.awaited) == 0 && l.asked == "" {
		return l.w.Write(line)
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	_ = json.Unmarshal(line, &m) // a result of another kind is passed on as it is
	key := ""
	if m.ID != nil && m.Method == "" {
		key = keyOf(m.ID)
	}
	if key != "" && key == l.asked {
		l.asked, l.version = "", m.Result.Version
	}
	at, ok := l.awaited[key]
	if !ok {
		return l.w.Write(line)
	}
	delete(l.awaited, key)
	at.batch.answers[at.at] = bytes.Clone(bytes.TrimSpace(line))
	at.batch.pending--
	return len(line), l.flush(at.batch)
}

// flush writes the answers to a batch when the last has come.
func (l *lineWriter) flush(b *batch) error {
	if b.pending > 0 || len(b.answers) == 0 {
		return nil
	}
	line, err := json.Marshal(b.answers)
	if err == nil {
		_, err = l.w.Write(append(line, '\n'))
	}
	return err
}

// refuse answers what is not a request. A client that does not read has hung up, which the
// next read tells.
func (l *lineWriter) refuse(id json.RawMessage, code int64, why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(append(refusal(id, code, why), '\n'))
}

// awaitVersion makes the answer to an initialize the version in force.
func (l *lineWriter) awaitVersion(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = key
}

// mayBatch says why a batch is not taken now.
func (l *lineWriter) mayBatch() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.version == "":
		return errors.New("no batch before the initialize")
	case l.version > lastWithBatches:
		return fmt.Errorf("the protocol %s has no batches: each message stands on a line", l.version)
	}
	return nil
}

// expect makes the answer to a request one of a batch.
func (l *lineWriter) expect(key string, b *batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, twice := l.awaited[key]; twice {
		return errors.New("another request with that id is not answered yet")
	}
	l.awaited[key] = place{b, len(b.answers)}
	b.answers = append(b.answers, nil)
	b.pending++
	return nil
}

// close writes the answers to a batch of which nothing is passed on.
func (l *lineWriter) close(b *batch) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.flush(b) // as in refuse
}
