package bridge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// clip is the beginning of a text, at most so many bytes.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}

// tabStop is how many columns a tab goes to at most: a telephone has few.
const tabStop = 4

// withoutTabs is a text with spaces for its tabs, which clients show as a sign, or as nothing.
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

// withoutBlank leaves out the lines with nothing in them: a chat has none.
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

// leastRead is how much of an id is enough where the bridge is not named: less may be a
// word, as in "read this".
const leastRead = 6

// bareID is an id as people type it, without what stands around it.
func bareID(id string) string { return strings.ToLower(strings.Trim(id, ":,;.()\"'…")) }

// topicLine is a text as a topic: one line without secrets.
func topicLine(c Names, mask func(string) string, text string) string {
	return mask(strings.Join(strings.Fields(c.Plain(text)), " "))
}

// sameChannel says whether two names are one channel.
func sameChannel(c Names, a, b string) bool { return c.Same(a, b) || strings.EqualFold(a, b) }

// idParts tells a person what may be written for an id.
var idParts = fmt.Sprintf(" The beginning or the end of an id is enough, from %d characters on.", dropbox.MinIDPart)
