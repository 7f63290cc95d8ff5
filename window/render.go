package window

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxCall  = 2 << 10 // bytes of a call's argument
	noteRoom = 48      // bytes, at least as long as the longest note of a cut
)

// telling names, for the tools of Claude Code that are used most, the arguments
// that say what a call is about; the first that is there is shown.
var telling = map[string][]string{
	"Bash":         {"command"},
	"Read":         {"file_path"},
	"Write":        {"file_path"},
	"Edit":         {"file_path"},
	"MultiEdit":    {"file_path"},
	"NotebookEdit": {"notebook_path"},
	"Glob":         {"pattern"},
	"Grep":         {"pattern"},
	"WebFetch":     {"url"},
	"WebSearch":    {"query"},
}

func appendCall(dst []byte, name string, input []byte) []byte {
	dst = append(dst, "$ "...)
	dst = append(dst, name...)
	arg := argument(name, input)
	if arg == "" {
		return dst
	}
	dst = append(dst, ' ')
	from := len(dst)
	dst = appendWithoutBase64(dst, arg)
	return cutMiddle(dst, from, maxCall)
}

// argument is what is shown of a call's input.
func argument(name string, input []byte) string {
	var fields map[string]json.RawMessage
	if keys := telling[name]; keys != nil && json.Unmarshal(input, &fields) == nil {
		for _, key := range keys {
			var arg string
			if json.Unmarshal(fields[key], &arg) == nil && arg != "" {
				return strings.TrimRight(arg, "\r\n")
			}
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

func appendResult(dst []byte, name, text string, failed bool, most int) []byte {
	if failed {
		dst = append(dst, "✗"...)
	} else {
		dst = append(dst, "→"...)
	}
	if name != "" {
		dst = append(dst, ' ')
		dst = append(dst, name...)
	}
	text = strings.Trim(text, "\r\n")
	if text == "" {
		return dst
	}
	if name != "" {
		dst = append(dst, ':')
	}
	dst = append(dst, ' ')
	from := len(dst)
	dst = appendWithoutBase64(dst, text)
	return cutMiddle(dst, from, most)
}

// cutMiddle makes dst[from:] at most so many bytes long: its head and its tail
// stay, with a note of the cut between them.
func cutMiddle(dst []byte, from, most int) []byte {
	text := dst[from:]
	if len(text) <= most {
		return dst
	}
	side := (most - noteRoom) / 2
	head, tail := side, len(text)-side
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	var buf [noteRoom]byte
	note := appendNote(append(buf[:0], '\n'), tail-head)
	note = append(note, '\n')
	n := head
	n += copy(text[n:], note)
	n += copy(text[n:], text[tail:])
	return dst[:from+n]
}

// appendNote appends "[… 12,345 bytes cut …]".
func appendNote(dst []byte, lost int) []byte {
	dst = append(dst, "[… "...)
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], int64(lost), 10)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, d)
	}
	return append(dst, " bytes cut …]"...)
}
