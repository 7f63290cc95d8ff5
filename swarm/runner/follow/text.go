package follow

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// maxReason is the maximum length of a reason, in bytes.
const maxReason = 400

// OneLine converts text to a single short line for use in a list.
func OneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f { // a terminal would interpret escape sequences
			return -1
		}
		return r
	}, text)
	if len(text) <= maxReason {
		return text
	}
	cut := maxReason
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// FirstLine returns the first non-blank line of a string.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}

// LastLine returns the last non-blank line of a string.
func LastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}

// WithDetail appends the detail, if there is one, to a string.
func WithDetail(text, detail string) string {
	if detail == "" {
		return text
	}
	return text + ": " + detail
}

// Ended describes how a client ended, for example "exited with status 1".
func Ended(x runner.Exit) string {
	if x.Signal != "" {
		return "was terminated by a signal (" + x.Signal + ")"
	}
	return fmt.Sprintf("exited with status %d", x.ExitCode)
}
