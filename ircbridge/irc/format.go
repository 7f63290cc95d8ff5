package irc

import "strings"

// The formatting codes of mIRC and of clients that imitate it.
const (
	bold      = '\x02'
	color     = '\x03' // N[N][,M[M]]
	hexColor  = '\x04' // RRGGBB[,RRGGBB]
	reset     = '\x0f'
	monospace = '\x11'
	reverse   = '\x16'
	italic    = '\x1d'
	strike    = '\x1e'
	underline = '\x1f'

	ctcpMark = '\x01'
)

// StripFormat removes the formatting codes from received text. A comma without a digit
// after it belongs to the text, not to the preceding color.
func StripFormat(s string) string {
	if !strings.ContainsFunc(s, isFormat) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == color:
			i += colorLen(s[i+1:], isDigit, 1, 2)
		case c == hexColor:
			i += colorLen(s[i+1:], isHex, 6, 6)
		case !isFormat(rune(c)):
			b.WriteByte(c)
		}
	}
	return b.String()
}

// colorLen returns the combined length of a foreground color and an optional background
// color at the start of s. The arguments least and most limit the number of digits of
// each color.
func colorLen(s string, digit func(byte) bool, least, most int) int {
	count := func(s string) int {
		n := 0
		for n < most && n < len(s) && digit(s[n]) {
			n++
		}
		if n < least {
			return 0
		}
		return n
	}
	n := count(s)
	if n > 0 && n < len(s) && s[n] == ',' {
		if back := count(s[n+1:]); back > 0 {
			n += 1 + back
		}
	}
	return n
}

func isFormat(r rune) bool {
	switch r {
	case bold, color, hexColor, reset, monospace, reverse, italic, strike, underline:
		return true
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

// CTCP parses text between two \x01 bytes, the second of which may be missing. For
// "\x01ACTION waves\x01" it returns ACTION and "waves". ok is false for plain text.
func CTCP(text string) (command, args string, ok bool) {
	inner, ok := strings.CutPrefix(text, string(ctcpMark))
	if !ok {
		return "", "", false
	}
	inner, _, _ = strings.Cut(inner, string(ctcpMark))
	command, args, _ = strings.Cut(inner, " ")
	return strings.ToUpper(command), args, command != ""
}

// PlainText makes any text safe to send. Line ends become \n, and every character that a
// server, a client or a terminal would interpret as a command, as formatting or as a CTCP
// becomes U+FFFD. Of the control characters (C0 and C1), only tabs and line ends remain.
func PlainText(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if !strings.ContainsFunc(s, notPlain) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if notPlain(r) {
			return '\uFFFD'
		}
		return r
	}, s)
}

func notPlain(r rune) bool { return r != '\n' && (unsafeRune(r) || isFormat(r)) }
