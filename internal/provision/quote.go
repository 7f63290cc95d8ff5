package provision

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9./_][A-Za-z0-9./_-]*$`) })

// shellQuote writes a text as one word of a command line.
func shellQuote(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// shellWord makes one word of a command line that a person types: where the word has characters
// that steer a terminal, these stand there as numbers.
func shellWord(s string) string {
	if printable(s) == s {
		return shellQuote(s)
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteString("\\" + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// printable makes text fit for one line of a terminal: what would steer the terminal, such as an
// escape in the name of a file, stands there as a backslash and its number.
func printable(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// yamlQuote writes a text as a value of YAML.
func yamlQuote(text string) string {
	if plainWord().MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
