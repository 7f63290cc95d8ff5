package streamjson

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of values, the same as in encoding/json.
const maxDepth = 10000

// A member is either a member of an object or an element of an array, which has no key.
// value is the part of the line that contains the entire value.
type member struct{ key, value []byte }

// members appends the members of the object or array b, which may be surrounded by white
// space. ok is false if b is not such a value or is not valid JSON.
func members(list []member, b []byte, bracket byte) (_ []member, ok bool) {
	i := space(b, 0)
	if at(b, i) != bracket {
		return list, false
	}
	end := walk(b, i, 1, &list)
	return list, end >= 0 && space(b, end) == len(b)
}

// at returns b[i], or 0 if i is beyond the end of b.
func at(b []byte, i int) byte {
	if i < len(b) {
		return b[i]
	}
	return 0
}

// space returns the index of the first byte at or after i that is not whitespace.
func space(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && (b[i] == ' ' || b[i] == '\n' || b[i] == '\r' || b[i] == '\t') {
		i++
	}
	return i
}

// walk skips the object or array that begins at b[i] and adds its members to list unless
// list is nil. walk and the functions that it calls are as strict as encoding/json. They
// return the end of the value, or -1 if the value is invalid.
func walk(b []byte, i, depth int, list *[]member) int {
	if depth > maxDepth {
		return -1
	}
	closing := b[i] + 2 // because ']' is '[' + 2 and '}' is '{' + 2
	i = space(b, i+1)
	if at(b, i) == closing {
		return i + 1
	}
	for {
		var m member
		if closing == '}' {
			end, odd := skipString(b, i)
			if end < 0 {
				return -1
			}
			if m.key = b[i+1 : end-1]; odd && list != nil {
				m.key, _ = unescape(nil, validUTF8(m.key), 0, math.MaxInt)
			}
			if i = space(b, end); at(b, i) != ':' {
				return -1
			}
			i = space(b, i+1)
		}
		end := skip(b, i, depth)
		if end < 0 {
			return -1
		}
		if list != nil {
			m.value = b[i:end:end]
			*list = append(*list, m)
		}
		i = space(b, end)
		switch at(b, i) {
		case closing:
			return i + 1
		case ',':
			i = space(b, i+1)
		default:
			return -1
		}
	}
}

// skip skips a value of any type.
func skip(b []byte, i, depth int) int {
	switch at(b, i) {
	case '"':
		end, _ := skipString(b, i)
		return end
	case '{', '[':
		return walk(b, i, depth+1, nil)
	case 't':
		return skipWord(b, i, "true")
	case 'f':
		return skipWord(b, i, "false")
	case 'n':
		return skipWord(b, i, "null")
	}
	return skipNumber(b, i)
}

func skipWord(b []byte, i int, word string) int {
	if end := i + len(word); end <= len(b) && string(b[i:end]) == word {
		return end
	}
	return -1
}

func skipNumber(b []byte, i int) int {
	if at(b, i) == '-' {
		i++
	}
	if at(b, i) == '0' {
		i++
	} else {
		i = skipDigits(b, i)
	}
	if i >= 0 && at(b, i) == '.' {
		i = skipDigits(b, i+1)
	}
	if i >= 0 && at(b, i)|0x20 == 'e' {
		if i++; at(b, i) == '+' || at(b, i) == '-' {
			i++
		}
		i = skipDigits(b, i)
	}
	return i
}

// skipDigits skips one or more digits.
func skipDigits(b []byte, i int) int {
	begin := i
	for at(b, i)-'0' <= 9 {
		i++
	}
	if i == begin {
		return -1
	}
	return i
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special sets the highest bit of the first byte in w that ends the plain part of a
// string, which is a quote, a backslash or a control character. It may wrongly set the
// bit in later bytes.
func special(w uint64) uint64 {
	quote := w ^ '"'*ones
	slash := w ^ '\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-0x20*ones)&^w) & highs
}

// skipString skips a string, eight bytes at a time. odd reports whether the string may
// contain escapes or non-ASCII bytes.
func skipString(b []byte, i int) (end int, odd bool) {
	if at(b, i) != '"' {
		return -1, false
	}
	for i++; i < len(b); {
		if i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			odd = odd || w&highs != 0
			stop := special(w)
			if stop == 0 {
				i += 8
				continue
			}
			i += bits.TrailingZeros64(stop) / 8
		}
		switch c := b[i]; {
		case c == '"':
			return i + 1, odd
		case c == '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return -1, false
			}
			odd = true
			i += n
		case c < 0x20:
			return -1, false
		default: // this happens only in the last bytes of a line
			odd = odd || c >= utf8.RuneSelf
			i++
		}
	}
	return -1, false
}

// escapeLen returns the length of the escape at the beginning of b, or 0 if b does not
// begin with one.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && !slices.ContainsFunc(b[2:6], notHex) {
			return 6
		}
	}
	return 0
}

func notHex(c byte) bool {
	return c-'0' > 9 && c|0x20-'a' > 5
}
