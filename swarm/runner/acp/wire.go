package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// A message is one line from the client, in JSON-RPC 2.0. A message with a method is a
// request if it has an id, and otherwise a notification. A message without a method is an
// answer to one of our requests.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *fault          `json:"error"`
}

// A fault is the error object in an answer.
type fault struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// These are the error codes of JSON-RPC and of the protocol that we treat specially.
const (
	codeNoMethod     = -32601
	codeAuthRequired = -32000
)

// maxID is the maximum length of a message's id, in bytes. The length is limited because
// an answer repeats the id.
const maxID = 4 << 10

// parse parses a line. ok is false for a line that is not a message.
func parse(line []byte) (m message, ok bool) {
	if !lenient(line, &m) || len(m.ID) > maxID {
		return message{}, false
	}
	return m, m.Method != "" || m.isAnswer()
}

// maxBraces is the maximum number of positions at which gluedAnswer looks for an answer.
const maxBraces = 100

// gluedAnswer returns the answer with which a line ends that begins with other text, and
// the length of that text, in bytes. A client that prints a log text without a newline
// produces such a line, and without its last answer the turn would wait for stall_timeout.
//
// Only answers are looked for. A client may also log each message that it sends or
// receives, so a notification or a request in such a line may be a copy, and would count
// twice. An answer cannot: only the first one to a request has an effect.
func gluedAnswer(line []byte) (m message, before int, ok bool) {
	for range maxBraces {
		i := bytes.IndexByte(line[before:], '{')
		if i < 0 {
			break
		}
		before += i
		if m, ok := parse(line[before:]); ok && m.isAnswer() {
			return m, before, true
		}
		before++
	}
	return message{}, 0, false
}

func (m *message) isRequest() bool { return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null" }

func (m *message) isAnswer() bool {
	return m.Method == "" && len(m.ID) > 0 && (m.Error != nil || m.Result != nil)
}

// lenient decodes JSON as far as it can. It ignores a field whose type differs from ours,
// because future clients may send other types. It returns false for data that is not a
// JSON object.
func lenient(data []byte, into any) bool {
	err := json.Unmarshal(data, into)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return wrong.Field != "" // if the error names no field, the data is not an object
	}
	return err == nil
}

// request returns the line for one of our requests, or for a notification if id is empty.
func request(id, method string, params any) []byte {
	return encode(struct {
		Version string `json:"jsonrpc"`
		ID      string `json:"id,omitempty"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", id, method, params})
}

// answer returns the line that answers a request from the client.
func answer(id json.RawMessage, result any) []byte {
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result})
}

// refuseMethod returns the line that rejects a request for a method that we do not
// support.
func refuseMethod(id json.RawMessage, method string) []byte {
	type refusal struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   refusal         `json:"error"`
	}{"2.0", id, refusal{codeNoMethod, fmt.Sprintf("method not found: %q", follow.OneLine(method))}})
}

func encode(v any) []byte {
	line, err := json.Marshal(v)
	if err != nil {
		panic("acp: a message of strings and numbers could not be encoded as JSON: " + err.Error())
	}
	return append(line, '\n')
}
