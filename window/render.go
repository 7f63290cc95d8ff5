package window

import (
	"strconv"
	"unicode/utf8"
)

const noteRoom = 48 // size in bytes that is enough for the longest note about a cut

// appendResultHead appends the text before the content of a result.
func appendResultHead(dst []byte, name string, text, failed bool) []byte {
	mark := "→"
	if failed {
		mark = "✗"
	}
	dst = append(dst, mark...)
	if name != "" {
		dst = append(append(dst, ' '), name...)
		if text {
			dst = append(dst, ':')
		}
	}
	if text {
		dst = append(dst, ' ')
	}
	return dst
}

// trimNewlines removes the newlines at the beginning and end of a string.
func trimNewlines(text string) string {
	for len(text) > 0 && (text[0] == '\n' || text[0] == '\r') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == '\n' || text[len(text)-1] == '\r') {
		text = text[:len(text)-1]
	}
	return text
}

// cut removes long base64 from text. If the text is still longer than the limit most, cut
// also removes the middle. A note replaces each removed part.
func cut(text string, most int) string {
	text = cutBase64(text)
	if len(text) <= most {
		return text
	}
	side := (most - noteRoom) / 2
	head, tail := side, len(text)-side
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	var buf [noteRoom]byte
	note := append(appendNote(append(buf[:0], '\n'), tail-head), '\n')
	return text[:head] + string(note) + text[tail:]
}

// appendNote appends "[… 12,345 bytes cut …]".
func appendNote(dst []byte, lost int) []byte {
	dst = append(dst, "[… "...)
	var buf [20]byte
	digits := strconv.AppendInt(buf[:0], int64(lost), 10)
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, d)
	}
	return append(dst, " bytes cut …]"...)
}
