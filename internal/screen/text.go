package screen

import (
	"strings"
	"unicode"
)

// OneLine makes text fit for one line of a terminal: white space becomes a
// space, and nothing in it can steer the terminal. It drops bytes that are not UTF-8.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, ""), func(r rune) bool {
		return unicode.IsSpace(r) || Steers(r)
	}), " ")
}

// Steers tells whether a rune does something to the terminal, or turns around
// what stands beside it, so that a line says another thing than is in it.
func Steers(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Plain takes out of text what could steer the terminal, and keeps newlines
// and tabs.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && Steers(r) {
			return -1
		}
		return r
	}, text)
}

// Short is OneLine of at most n columns, with … where something is missing. It reads only the
// beginning of a huge text.
func Short(text string, n int) string {
	if most := 8 * n; len(text) > most {
		text = text[:max(most, 0)]
	}
	return Cut(OneLine(text), n)
}

// ShellWord makes one word of a shell command.
func ShellWord(s string) string {
	out := []byte{'\''}
	for i := range len(s) {
		if s[i] == '\'' {
			out = append(out, `'\''`...)
			continue
		}
		out = append(out, s[i])
	}
	return string(append(out, '\''))
}
