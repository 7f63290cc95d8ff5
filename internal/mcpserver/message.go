package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// These are error codes of JSON-RPC 2.0.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
)

// A message is a message from the client: a request if it has an id and a method, a
// notification if it has only a method, and otherwise a response, although the server
// sends no requests.
type message struct {
	id     json.RawMessage // nil if the message has no valid id
	key    string          // the normalized id, so that 1 and 1.0 are equal; "" if there is no id
	method string
	params json.RawMessage // an object; nil if missing
}

// readMessage parses a message. If data is not a valid message, the error says why, and
// the returned message still contains the id for the response, if there is one.
func readMessage(data []byte) (message, error) {
	var m message
	if data[0] != '{' {
		return m, errors.New("a message must be a JSON object")
	}
	var parts map[string]json.RawMessage // not a struct, which would accept "ID" for "id"
	if err := json.Unmarshal(data, &parts); err != nil {
		return m, err
	}
	if id := parts["id"]; id != nil {
		if m.key = keyOf(id); m.key == "" {
			return m, errors.New("an id must be a string or a whole number")
		}
		m.id = id
	}
	if string(parts["jsonrpc"]) != `"2.0"` {
		return m, errors.New(`a message must have "jsonrpc": "2.0"`)
	}
	method, isRequest := parts["method"]
	wrong, isError := parts["error"]
	_, isResult := parts["result"]
	switch {
	case isRequest:
		if err := json.Unmarshal(method, &m.method); err != nil || m.method == "" {
			return m, errors.New("a method must be a string")
		}
	case isError && wrong[0] != '{':
		return m, errors.New("an error must be a JSON object")
	case !isError && !isResult:
		return m, errors.New("a message must have a method, a result or an error")
	}
	if m.params = parts["params"]; m.params != nil && m.params[0] != '{' {
		return m, errors.New("the params must be a JSON object")
	}
	return m, nil
}

// keyOf returns the normalized form of an id, or "" if the JSON is not a valid id.
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

// A fault is the error object of a response.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *fault) Error() string { return e.Message }

func faultf(code int, format string, args ...any) *fault {
	return &fault{code, fmt.Sprintf(format, args...)}
}

// refusal returns the response to a message that the server refuses. If the message has
// no id, the id in the response is null.
func refusal(id json.RawMessage, why *fault) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	data, _ := marshal(struct { // cannot fail, because the struct has only plain types
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *fault          `json:"error"`
	}{"2.0", id, why})
	return data
}

// success returns the response to a request that succeeded.
func success(id json.RawMessage, result any) []byte {
	data, err := marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", id, result})
	if err != nil {
		return refusal(id, faultf(codeInvalidRequest, "the answer cannot be written: %v", err))
	}
	return data
}
