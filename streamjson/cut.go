package streamjson

import (
	"strconv"
	"unicode/utf8"
)

// A string that is too long keeps at most this many bytes at each end. The remaining
// bytes of [MaxResult] are reserved for the note in the middle.
const (
	keepHead = MaxResult/2 - 32
	keepTail = MaxResult/2 - 32
)

// bound replaces the middle of a string that is longer than MaxResult bytes with a note.
// Neither kept part begins or ends inside a character. size is the length of the string
// in bytes, and part returns a part of it.
func bound(size int, part func(from, to int) []byte) (kept string, lost int64) {
	if size <= MaxResult {
		return string(part(0, size)), 0
	}
	head, tail := part(0, keepHead+1), part(size-keepTail, size)
	end := keepHead
	for !utf8.RuneStart(head[end]) {
		end--
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	lost = int64(size - len(tail) - end)
	return string(head[:end]) + cutNote(lost) + string(tail), lost
}

// cutNote returns a note with the number of missing bytes: "\n[… 12,345 bytes cut …]\n".
func cutNote(lost int64) string {
	var buf [64]byte
	b := append(buf[:0], "\n[… "...)
	digits := strconv.FormatInt(lost, 10)
	for i := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, digits[i])
	}
	return string(append(b, " bytes cut …]\n"...))
}
