package bridge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// clip shortens a string to at most the given number of bytes, and marks the cut.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}

// tabStop is the maximum width of a tab, in columns. It is small because a phone's screen
// has few columns.
const tabStop = 4

// withoutTabs replaces tabs with spaces, because chat programs show a tab as a symbol or
// not at all.
func withoutTabs(text string) string {
	if !strings.Contains(text, "\t") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		column := 0
		for part := range strings.SplitAfterSeq(line, "\t") {
			words, tab := strings.CutSuffix(part, "\t")
			b.WriteString(words)
			column += utf8.RuneCountInString(words)
			if tab {
				n := tabStop - column%tabStop
				b.WriteString(strings.Repeat(" ", n))
				column += n
			}
		}
	}
	return b.String()
}

// withoutBlank removes empty lines, because a chat network cannot send them.
func withoutBlank(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(line, " \t"))
	}
	return b.String()
}

// leastRead is the minimum length of a partial message id in an order without the bridge's
// name. A shorter part could be an ordinary word, as in "read this". Only the id of an open
// question can be shorter.
const leastRead = 6

// bareID removes the punctuation around an id that a person typed, and converts the id to
// lower case.
func bareID(id string) string { return strings.ToLower(strings.Trim(id, ":,;.()\"'…")) }

// topicLine converts a string to a topic, which is a single line without secrets.
func topicLine(c Names, mask func(string) string, text string) string {
	return mask(strings.Join(strings.Fields(c.Plain(text)), " "))
}

// sameChannel reports whether two names denote the same channel.
func sameChannel(c Names, a, b string) bool { return c.Same(a, b) || strings.EqualFold(a, b) }

// idParts tells a person how much of an id is enough.
var idParts = fmt.Sprintf(" At least %d characters from the beginning or the end of an id are enough.", dropbox.MinIDPart)
