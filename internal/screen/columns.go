package screen

import (
	"slices"
	"strings"

	"github.com/rivo/uniseg"
)

// Columns returns the number of terminal columns that text occupies: two for a Chinese,
// Japanese or Korean character and for most emoji, and zero for a mark that combines with
// another character.
func Columns(text string) int {
	if isPlainASCII(text) {
		return len(text)
	}
	return uniseg.StringWidth(text)
}

func isPlainASCII(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Head splits text after the last character that fits in n columns. It does not split a
// character that consists of several runes.
func Head(text string, n int) (begin, rest string) {
	if isPlainASCII(text) {
		n = min(max(n, 0), len(text))
		return text[:n], text[n:]
	}
	at, state := 0, -1
	for at < len(text) {
		var letter string
		var w int
		letter, _, w, state = uniseg.FirstGraphemeClusterInString(text[at:], state)
		if w > n {
			break
		}
		n -= w
		at += len(letter)
	}
	return text[:at], text[at:]
}

// Cut shortens text to at most n columns and marks the cut with ….
func Cut(text string, n int) string {
	if Columns(text) <= n {
		return text
	}
	if n <= 0 {
		return ""
	}
	begin, _ := Head(text, n-1)
	return begin + "…"
}

// Fit cuts text to the given number of columns; 0 means no limit.
func Fit(text string, columns int) string {
	if columns == 0 {
		return text
	}
	return Cut(text, columns)
}

// Wrap breaks the lines of text at spaces so that they fit in n columns. A line remains
// longer only if it is a single long word.
func Wrap(text string, n int) string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		now, used := "", 0
		for _, word := range strings.Fields(line) {
			w := Columns(word)
			if now != "" && used+1+w > n {
				out = append(out, now)
				now, used = "", 0
			}
			if now != "" {
				now += " "
				used++
			}
			now += word
			used += w
		}
		out = append(out, now)
	}
	return strings.Join(out, "\n")
}

// Whole breaks a line that is wider than columns into several lines, without losing any text;
// 0 means no limit. A next step at the end of the line starts a new line, so that a command
// is broken only if it is too long for one line. A word that is too long for one line is also
// broken.
func Whole(line string, columns int) string {
	if columns == 0 || Columns(line) <= columns {
		return line
	}
	const next = "next: "
	what, step, found := strings.Cut(line, "   "+next)
	text := Wrap(what, columns)
	if found {
		text += "\n" + Wrap(next+step, columns)
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = slices.Concat(lines, chunks(line, columns))
	}
	return strings.Join(lines, "\n")
}

// chunks splits a line into pieces of at most n columns each; a character wider than n is
// a separate piece.
func chunks(line string, n int) []string {
	if line == "" {
		return []string{""}
	}
	var pieces []string
	for line != "" {
		begin, rest := Head(line, n)
		if begin == "" {
			begin, rest, _, _ = uniseg.FirstGraphemeClusterInString(line, -1)
		}
		pieces, line = append(pieces, begin), rest
	}
	return pieces
}
