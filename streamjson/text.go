package streamjson

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape decodes JSON-escaped text and appends the decoded bytes between the offsets
// from and to. It returns the decoded length of either the entire text or the part before
// the offset to.
func unescape(dst, escaped []byte, from, to int) (_ []byte, size int) {
	add := func(piece []byte) {
		if begin, end := max(from-size, 0), min(to-size, len(piece)); begin < end {
			dst = append(dst, piece[begin:end]...)
		}
		size += len(piece)
	}
	var char [utf8.UTFMax]byte
	for len(escaped) > 0 && size < to {
		plain := bytes.IndexByte(escaped, '\\')
		if plain < 0 {
			plain = len(escaped)
		}
		add(escaped[:plain])
		if escaped = escaped[plain:]; len(escaped) > 0 {
			r, n := escape(escaped)
			add(utf8.AppendRune(char[:0], r))
			escaped = escaped[n:]
		}
	}
	return dst, size
}

// escape decodes the escape at the beginning of text and returns the length of the
// escape. The escape is valid, because skipString has checked it. An unpaired surrogate
// becomes U+FFFD.
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
		if c |= 0x20; c >= 'a' { // that bit is already set in a digit
			c -= 'a' - 10
		} else {
			c -= '0'
		}
		r = r<<4 | rune(c)
	}
	return r
}

// validUTF8 replaces each byte that is not valid UTF-8 with U+FFFD.
func validUTF8(raw []byte) []byte {
	if utf8.Valid(raw) {
		return raw
	}
	return bytes.Map(func(r rune) rune { return r }, raw)
}
