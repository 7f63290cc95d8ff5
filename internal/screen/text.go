package screen

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Truncate cuts text to most bytes, without splitting a rune, and marks the cut with ….
func Truncate(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Visible makes text safe to print, and shows what it made safe: a character that could
// control the terminal becomes an escape such as \x1b, and so does a byte that is not UTF-8.
// Newlines and tabs are kept.
func Visible(text string) string { return escaped(text, "\n\t", "", `\x%02x`) }

// escaped writes each byte of a rune that steers the terminal in the given form, except the
// runes in keep, and a backslash before each rune in also.
func escaped(text, keep, also, form string) string {
	var b strings.Builder
	for i, r := range text {
		size := utf8.RuneLen(r)
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			size = 1 // an invalid byte
		}
		switch {
		case strings.ContainsRune(also, r):
			b.WriteString(`\` + string(r))
		case size == 1 && r == utf8.RuneError, Steers(r) && !strings.ContainsRune(keep, r):
			for _, c := range []byte(text[i : i+size]) {
				fmt.Fprintf(&b, form, c)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// TypedWord quotes a string as one word of a command line that a person can read and paste
// into a shell. Unlike ShellWord, it writes characters that could control the terminal as
// escapes, in a form that bash, zsh and ksh know: $'\033'.
func TypedWord(s string) string {
	if Visible(s) == s && !strings.ContainsAny(s, "\n\t") {
		return ShellWord(s)
	}
	return "$'" + escaped(s, "", `\'`, `\%03o`) + "'"
}

// ShellWord quotes a string as one word of a shell command.
func ShellWord(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
