package streamjson

import (
	"strconv"
	"unicode/utf8"
)

// Of a text that is too long this much is kept at each side; what is left of
// [MaxResult] is room for the note between them.
const (
	keepHead = MaxResult/2 - 32
	keepTail = MaxResult/2 - 32
)

// bound cuts the middle out of a text of more than MaxResult bytes and puts a
// note there. Neither side begins or ends inside a character.
func bound(text string) (kept string, lost int64) {
	if len(text) <= MaxResult {
		return text, 0
	}
	head, tail := keepHead, len(text)-keepTail
	for !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	lost = int64(tail - head)
	return text[:head] + cutNote(lost) + text[tail:], lost
}

// cutNote says how many bytes are missing: "\n[… 12,345 bytes cut …]\n".
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
