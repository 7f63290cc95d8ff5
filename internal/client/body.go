package client

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Body joins the words of a command line into a message body. The body ends with a
// newline, like a text file, unless the newline would put it over the size limit. most is
// that limit in bytes.
func Body(words []string, most int) []byte {
	body := []byte(strings.Join(words, " "))
	if len(body) < most && !bytes.HasSuffix(body, []byte("\n")) {
		body = append(body, '\n')
	}
	return body
}

// A Flaw is a reason why some text is not a valid message body.
type Flaw int

// The flaws.
const (
	Sound   Flaw = iota // no flaw
	Empty               // only whitespace
	HasNUL              // a NUL byte at the offset
	NotUTF8             // invalid UTF-8 at the offset
	TooLong             // longer than allowed
)

// FlawOf returns the first flaw that it finds in body, and the offset of the flaw. If it
// finds no flaw, it returns Sound. most is the length limit in bytes.
func FlawOf(body []byte, most int) (flaw Flaw, at int) {
	switch at := bytes.IndexByte(body, 0); {
	case len(bytes.TrimSpace(body)) == 0:
		return Empty, 0
	case at >= 0:
		return HasNUL, at
	case !utf8.Valid(body):
		return NotUTF8, firstInvalid(body)
	case len(body) > most:
		return TooLong, most
	}
	return Sound, 0
}

func firstInvalid(b []byte) int {
	for at := 0; at < len(b); {
		r, n := utf8.DecodeRune(b[at:])
		if r == utf8.RuneError && n <= 1 {
			return at
		}
		at += n
	}
	return -1
}
