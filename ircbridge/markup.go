package ircbridge

import "strings"

// withoutMarkup removes the lines that are only markup.
func withoutMarkup(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !isMarkup(line) {
			b.WriteString(line)
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// isMarkup reports whether a line of Markdown is the fence of a code block, the line
// between a table's header and its rows, or a horizontal rule.
func isMarkup(line string) bool {
	line = strings.TrimSpace(line)
	for _, fence := range []string{"```", "~~~"} {
		if word, ok := strings.CutPrefix(line, fence); ok {
			return !strings.Contains(strings.TrimLeft(word, fence[:1]), fence[:1])
		}
	}
	dashes := strings.Count(line, "-")
	return strings.Trim(line, "|-: ") == "" && (dashes >= 3 || dashes > 0 && strings.Contains(line, "|"))
}
