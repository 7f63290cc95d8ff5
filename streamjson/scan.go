package streamjson

import (
	"encoding/binary"
	"math/bits"
)

// maxDepth is how deep the scanner follows values; deeper ones are left to
// encoding/json.
const maxDepth = 64

// A scan walks over one line. It is as strict as encoding/json, and stricter: it
// refuses white space between tokens and escaped keys too. Once it has refused,
// every method does nothing and says no, so that callers need to look only once,
// at the end.
//
// An object is walked like this; an array is the same without key:
//
//	for s.open('{'); s.next('}'); {
//		switch string(s.key()) {
//		case "name": name = s.raw()
//		default:     s.skip()
//		}
//	}
type scan struct {
	b       []byte
	i       int
	first   bool // just behind an opening bracket
	refused bool
	depth   int
}

// A token is what stands between the quotes of a string on the line.
type token struct {
	text    []byte
	escaped bool // it has escapes
	wide    bool // it has bytes beyond ASCII
}

func (s *scan) refuse() {
	s.refused = true
	s.i = len(s.b)
}

// peek is the byte that comes next; 0 at the end.
func (s *scan) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

func (s *scan) expect(c byte) {
	if s.peek() != c {
		s.refuse()
		return
	}
	s.i++
}

func (s *scan) open(bracket byte) {
	s.expect(bracket)
	s.first = true
	if s.depth++; s.depth > maxDepth {
		s.refuse()
	}
}

// next says whether another element follows, and steps over the comma before it
// or over the closing bracket.
func (s *scan) next(closing byte) bool {
	if s.refused {
		return false
	}
	c := s.peek()
	if c == closing {
		s.i++
		s.first = false
		s.depth--
		return false
	}
	if s.first {
		s.first = false
		return true
	}
	s.expect(',')
	return !s.refused
}

// key reads a key and its colon.
func (s *scan) key() []byte {
	t := s.raw()
	if t.escaped {
		s.refuse()
	}
	s.expect(':')
	return t.text
}

// null steps over a null, if one is there.
func (s *scan) null() bool {
	if s.peek() != 'n' {
		return false
	}
	s.literal("null")
	return true
}

func (s *scan) literal(word string) {
	if rest := s.b[s.i:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		s.refuse()
		return
	}
	s.i += len(word)
}

// flag reads true, false or null.
func (s *scan) flag() bool {
	switch s.peek() {
	case 't':
		s.literal("true")
		return !s.refused
	case 'f':
		s.literal("false")
	case 'n':
		s.literal("null")
	default:
		s.refuse()
	}
	return false
}

// number reads a number; a null is none.
func (s *scan) number() []byte {
	if s.null() {
		return nil
	}
	begin := s.i
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else {
		s.digits()
	}
	if s.peek() == '.' {
		s.i++
		s.digits()
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		s.digits()
	}
	if s.refused {
		return nil
	}
	return s.b[begin:s.i]
}

// digits steps over at least one digit.
func (s *scan) digits() {
	begin := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	if s.i == begin {
		s.refuse()
	}
}

// skip steps over any value.
func (s *scan) skip() {
	switch c := s.peek(); c {
	case '"':
		s.raw()
	case '{':
		for s.open('{'); s.next('}'); {
			s.key()
			s.skip()
		}
	case '[':
		for s.open('['); s.next(']'); {
			s.skip()
		}
	case 't', 'f', 'n':
		s.flag()
	default:
		s.number()
	}
}

// value steps over any value and returns it as it stands on the line; a null is none.
func (s *scan) value() []byte {
	if s.null() {
		return nil
	}
	begin := s.i
	s.skip()
	if s.refused {
		return nil
	}
	return s.b[begin:s.i:s.i]
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks, by their highest bits, the first byte of w that ends the plain
// part of a string: a quote, a backslash or a control character. Bytes behind
// the first one may be marked wrongly.
func special(w uint64) uint64 {
	quote := w ^ '"'*ones
	slash := w ^ '\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-0x20*ones)&^w) & highs
}

// raw reads a string, eight bytes at a time.
func (s *scan) raw() token {
	s.expect('"')
	b, i := s.b, s.i
	var t token
	var seen uint64
	for i < len(b) {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			stop := special(w)
			if stop == 0 {
				seen |= w
				i += 8
				continue
			}
			n := bits.TrailingZeros64(stop) / 8
			seen |= w & (1<<(8*n) - 1)
			i += n
		}
		switch c := b[i]; {
		case c == '"':
			t.text = b[s.i:i:i]
			t.wide = seen&highs != 0
			s.i = i + 1
			return t
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				s.refuse()
				return token{}
			}
			t.escaped = true
			i += n
		case c < 0x20:
			s.refuse()
			return token{}
		default: // only in the last bytes of a line
			seen |= uint64(c)
			i++
		}
	}
	s.refuse()
	return token{}
}

// escapeLen is the length of the escape with which b begins, 0 if it is none.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) && isHex(b[5]) {
			return 6
		}
	}
	return 0
}

func isHex(c byte) bool {
	return c-'0' <= 9 || c|0x20-'a' <= 5
}
