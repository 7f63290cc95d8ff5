package screen

import (
	"strings"
	"unicode"
)

// OneLine makes text safe to print on one line of a terminal. It replaces whitespace and
// characters that could control the terminal with one space between words, and drops
// bytes that are not UTF-8.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || Steers(r)
	}), " ")
}

// Steers reports whether a rune controls the terminal, or changes the direction of the text
// near it, so that a line does not show its real content.
func Steers(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Plain removes characters that could control the terminal, but keeps newlines and tabs.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Steers(r) {
			return -1
		}
		return r
	}, text)
}

// Short is like OneLine, but also cuts the line to n columns and marks the cut with …. It
// reads only the beginning of very long text.
func Short(text string, n int) string {
	if most := 8 * n; len(text) > most {
		text = text[:max(most, 0)]
	}
	return Cut(OneLine(text), n)
}

// ShellWord quotes a string as one word of a shell command.
func ShellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
