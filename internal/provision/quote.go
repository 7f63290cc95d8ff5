package provision

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9./_][A-Za-z0-9./_-]*$`) })

// shellQuote quotes a string as one word of a command line.
func shellQuote(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return screen.ShellWord(s)
}

// shellWord quotes a string as one word of a command line that a person types.
func shellWord(s string) string {
	if plainWord().MatchString(s) {
		return s
	}
	return screen.TypedWord(s)
}

// printable makes a string safe to print on one line of a terminal. A control character,
// such as an escape in a file name, is replaced by an escape sequence.
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

// yamlQuote quotes a string as a YAML value.
func yamlQuote(text string) string {
	if plainWord().MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
