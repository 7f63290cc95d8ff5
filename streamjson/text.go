package streamjson

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// arenaSize is how much memory is taken at once for short strings. It is small,
// because a string that is kept holds all of it.
const arenaSize = 4 << 10

// An arena makes strings that share memory with their neighbours, so that a line
// with ten short strings costs no allocation most of the time. What was written
// is never written again: the strings are good for ever.
type arena struct {
	b strings.Builder
}

// string decodes a token. It reports false if the token is not valid UTF-8.
func (a *arena) string(t token) (string, bool) {
	switch {
	case t.wide && !utf8.Valid(t.text):
		return "", false
	case len(t.text) == 0:
		return "", true
	case len(t.text) <= arenaSize/4:
		if a.b.Cap()-a.b.Len() < len(t.text) { // decoded it is no longer than this
			a.b = strings.Builder{}
			a.b.Grow(arenaSize)
		}
		from := a.b.Len()
		unescape(&a.b, t)
		return a.b.String()[from:], true
	case !t.escaped:
		return string(t.text), true
	}
	var b strings.Builder
	b.Grow(len(t.text))
	unescape(&b, t)
	return b.String(), true
}

// bounded decodes a token like string, but makes of it no more than MaxResult
// bytes, and decodes no more than it keeps; see [bound].
func (a *arena) bounded(t token) (kept string, lost int64, ok bool) {
	if len(t.text) <= MaxResult {
		s, ok := a.string(t)
		return s, 0, ok
	}
	if t.wide && !utf8.Valid(t.text) {
		return "", 0, false
	}
	_, total := offset(t.text, math.MaxInt, false)
	if total <= MaxResult {
		s, ok := a.string(t)
		return s, 0, ok
	}
	headEnd, head := offset(t.text, keepHead, false)
	tailBegin, tail := offset(t.text, total-keepTail, true)
	lost = int64(tail - head)
	var b strings.Builder
	b.Grow(MaxResult)
	unescape(&b, token{text: t.text[:headEnd], escaped: t.escaped})
	b.WriteString(cutNote(lost))
	unescape(&b, token{text: t.text[tailBegin:], escaped: t.escaped})
	return b.String(), lost, true
}

// unescape writes the decoded text of a token to b.
func unescape(b *strings.Builder, t token) {
	text := t.text
	for t.escaped {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			break
		}
		b.Write(text[:i])
		r, n := escape(text[i:])
		if r < utf8.RuneSelf {
			b.WriteByte(byte(r))
		} else {
			b.WriteRune(r)
		}
		text = text[i+n:]
	}
	b.Write(text)
}

// escape decodes the escape with which text begins, and says how long it is. It
// is valid: the scanner has seen it. Half of a surrogate pair becomes U+FFFD.
func escape(text []byte) (rune, int) {
	switch c := text[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
	default:
		return rune(c), 2
	}
	r := hex4(text[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(text) >= 12 && text[6] == '\\' && text[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(text[8:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(text []byte) rune {
	var r rune
	for _, c := range text[:4] {
		if c |= 0x20; c >= 'a' { // a digit has that bit already
			c -= 'a' - 10
		} else {
			c -= '0'
		}
		r = r<<4 | rune(c)
	}
	return r
}

// offset finds where on the line the decoded text is want bytes long, or as near
// to that as a character begins: before it, or behind it when up. It returns
// that place and the length of the decoded text before it.
func offset(text []byte, want int, up bool) (at, decoded int) {
	for at < len(text) {
		if text[at] == '\\' {
			r, n := escape(text[at:])
			size := utf8.RuneLen(r)
			if decoded+size > want {
				if up && decoded < want {
					return at + n, decoded + size
				}
				return at, decoded
			}
			at, decoded = at+n, decoded+size
			continue
		}
		run := bytes.IndexByte(text[at:], '\\')
		if run < 0 {
			run = len(text) - at
		}
		if decoded+run < want {
			at, decoded = at+run, decoded+run
			continue
		}
		at, decoded = at+want-decoded, want
		for at < len(text) && !utf8.RuneStart(text[at]) {
			if up {
				at, decoded = at+1, decoded+1
			} else {
				at, decoded = at-1, decoded-1
			}
		}
		return at, decoded
	}
	return at, decoded
}
