package irc

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// A Line is a piece of text that fits into one message.
type Line struct {
	Text   string
	Concat bool // continues the previous piece, within one line of the text
}

// Split cuts text into lines of at most limit bytes each. A limit below 4 is treated as
// 4. A line of the text that is too long is cut before a space, so that words stay
// intact. The space begins the next piece because some servers strip trailing spaces
// (ngircd 26.1). A word longer than limit is cut between visible characters, and a
// character longer than limit is cut between its runes. No text is lost, so [Join]
// restores the original text.
func Split(text string, limit int) []Line {
	limit = max(limit, utf8.UTFMax)
	var lines []Line
	for line := range strings.SplitSeq(text, "\n") {
		concat := false
		for len(line) > limit {
			n := cut(line, limit)
			lines = append(lines, Line{line[:n], concat})
			line, concat = line[n:], true
		}
		if line != "" || !concat {
			lines = append(lines, Line{line, concat})
		}
	}
	return lines
}

// cut returns the offset at which the first piece of a line ends. The line must be longer
// than limit.
func cut(line string, limit int) int {
	for i := limit; i > 0; i-- {
		if line[i] != ' ' || line[i-1] == ' ' {
			continue
		}
		word := strings.TrimLeft(line[i:], " ")
		spaces := len(line) - i - len(word)
		if end := strings.IndexByte(word, ' '); end >= 0 {
			word = word[:end]
		}
		if i == limit || spaces+len(word) <= limit {
			return i
		}
		break // a word that must be split anyway also fills this piece
	}
	n, state := 0, -1
	for rest := line; ; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if n+len(cluster) > limit {
			break
		}
		n += len(cluster)
	}
	if n == 0 {
		for n = limit; !utf8.RuneStart(line[n]); n-- {
		}
		if n == 0 {
			n = limit // this is not UTF-8
		}
	}
	if whole := len(strings.TrimRight(line[:n], " ")); whole > 0 {
		n = whole
	}
	return n
}

// Join joins the lines that [Split] made. It joins the pieces of one line directly, and
// separate lines with \n.
func Join(lines []Line) string {
	var b strings.Builder
	for i, l := range lines {
		if i > 0 && !l.Concat {
			b.WriteByte('\n')
		}
		b.WriteString(l.Text)
	}
	return b.String()
}

// Batches combines lines into draft/multiline batches within the server's limits maxBytes
// and maxLines. A limit of 0 or less means no limit. A line feed between two lines counts
// as one byte. If possible, a batch ends between two lines of the text. If it must end
// within a line, the next batch begins with a Concat line.
func Batches(lines []Line, maxBytes, maxLines int) [][]Line {
	fits := func(b []Line) bool {
		return (maxBytes <= 0 || len(Join(b)) <= maxBytes) && (maxLines <= 0 || len(b) <= maxLines)
	}
	var all [][]Line
	for len(lines) > 0 {
		n := 1
		for bytes := len(lines[0].Text); n < len(lines); n++ {
			bytes += len(lines[n].Text)
			if !lines[n].Concat {
				bytes++
			}
			if maxBytes > 0 && bytes > maxBytes || maxLines > 0 && n >= maxLines {
				break
			}
		}
		if n < len(lines) {
			whole := n
			for whole > 0 && lines[whole].Concat {
				whole--
			}
			// Move the end back only if the line that would be split fits into a single
			// batch.
			end := whole + 1
			for end < len(lines) && lines[end].Concat {
				end++
			}
			if whole > 0 && fits(lines[whole:end]) {
				n = whole
			}
		}
		all = append(all, lines[:n:n])
		lines = lines[n:]
	}
	return all
}
