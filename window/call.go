package window

import (
	"bytes"
	"encoding/json"
	"strings"
)

const maxCall = 2 << 10 // bytes of a call's argument

// telling names, for the tools of Claude Code that are used most, the argument
// that says what a call is about.
var telling = map[string]string{
	"Bash":         "command",
	"Read":         "file_path",
	"Write":        "file_path",
	"Edit":         "file_path",
	"MultiEdit":    "file_path",
	"NotebookEdit": "notebook_path",
	"Glob":         "pattern",
	"Grep":         "pattern",
	"WebFetch":     "url",
	"WebSearch":    "query",
}

// argument is what is shown of a call's input.
func argument(name string, input []byte) string {
	if key := telling[name]; key != "" {
		if arg := stringField(input, key); arg != "" {
			return strings.TrimRight(arg, "\r\n")
		}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, input) != nil {
		return string(bytes.TrimSpace(input))
	}
	switch s := compact.String(); s {
	case "{}", "null":
		return ""
	default:
		return s
	}
}

// stringField is the field of that name in a JSON object; "" when there is none,
// or it is not a string.
func stringField(input []byte, key string) string {
	// It is nearly always the first one, and has no escapes.
	if rest, ok := bytes.CutPrefix(input, []byte(`{"`+key+`":"`)); ok {
		if end := bytes.IndexAny(rest, `"\\`); end >= 0 && rest[end] == '"' {
			return string(rest[:end])
		}
	}
	var fields map[string]json.RawMessage
	var field string
	if json.Unmarshal(input, &fields) != nil || json.Unmarshal(fields[key], &field) != nil {
		return ""
	}
	return field
}

// appendCallHead appends what stands before the argument of a call.
func appendCallHead(dst []byte, name string, arg bool) []byte {
	dst = append(append(dst, "$ "...), name...)
	if arg {
		dst = append(dst, ' ')
	}
	return dst
}

// CallText is the entry that [Buffer.AddCall] makes of a call, without its
// newline: "$ Bash go test ./...". A log shows a call by the same words.
func CallText(name string, input []byte) string {
	arg := argument(name, input)
	return string(appendCallHead(nil, name, arg != "")) + cut(arg, maxCall)
}
