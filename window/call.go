package window

import (
	"bytes"
	"encoding/json"
	"strings"
)

const maxCall = 2 << 10 // maximum size of a call's argument, in bytes

// argument returns the displayed part of a call: its subject, or its input if it has no
// subject.
func argument(about string, input []byte) string {
	if about != "" {
		return strings.TrimRight(about, "\r\n")
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

// appendCallHead appends the text before the argument of a call.
func appendCallHead(dst []byte, name string, arg bool) []byte {
	dst = append(append(dst, "$ "...), name...)
	if arg {
		dst = append(dst, ' ')
	}
	return dst
}

// CallText returns the entry that [Buffer.AddCall] makes from a call, without its newline:
// "$ Bash go test ./...". A log shows a call in the same form.
func CallText(name, about string, input []byte) string {
	arg := argument(about, input)
	return string(appendCallHead(nil, name, arg != "")) + cut(arg, maxCall)
}
