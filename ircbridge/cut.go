package ircbridge

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// maxShown is how many lines of long text are sent, except privately as one multiline
// message. People can ask for the remaining lines. A server that supports multiline messages
// does not tell whose clients do; the others get them line by line.
const maxShown = 6

// again marks text that may have been sent before.
const again = "(again) "

// threaded returns the tags for an answer to a line. With them, clients show the line and
// its answer together. A line without an id gets no tags.
func threaded(msgid string) map[string]string {
	if msgid == "" {
		return nil
	}
	return map[string]string{"+draft/reply": msgid}
}

// A piece is one line or one multiline message to be sent.
type piece struct {
	text string // the text as it is posted
	bare string // the text without the prefix and the mark
	upto int    // where the piece ends in the whole text, in bytes

	proven bool // the server has accepted the piece
}

// A cutter cuts masked text into pieces.
type cutter struct {
	prefix string // the text in front of each piece, such as "[coder] "
	limit  int    // maximum number of bytes in a line, including the prefix
	whole  bool   // the text can be sent as one multiline message
	alone  bool   // a single person reads the text, so it need not be short if it is whole
	read   string // the order that shows the whole text
}

// short returns the text that people see. If there are too many lines, it leaves out
// those that are only markup. If there are still too many, it returns the first lines,
// followed by a line with the number of missing lines.
func (c cutter) short(text string) string {
	if c.whole && c.alone {
		return text
	}
	lines := irc.Split(text, c.room())
	if len(lines) > maxShown+1 { // cutting off one line would save nothing, because the notice also needs a line
		text = withoutMarkup(text)
		lines = irc.Split(text, c.room())
	}
	if len(lines) <= maxShown+1 {
		return text
	}
	said := irc.Join(lines[:maxShown])
	return strings.TrimRight(said, "\n") + "\n" + fmt.Sprintf("… (%d more lines: %s)", len(lines)-maxShown, c.read)
}

func (c cutter) room() int { return max(c.limit-len(c.prefix), 16) }

// pieces cuts text that short returned, starting at the byte offset from. A piece that
// begins before the byte offset unsure gets a mark, because it may have been sent
// before.
func (c cutter) pieces(text string, from, unsure int) []piece {
	if from >= len(text) {
		return nil
	}
	if c.whole {
		mark := ""
		if from < unsure {
			mark = again
		}
		return []piece{{text: c.prefix + mark + text[from:], bare: text[from:], upto: len(text)}}
	}
	var all []piece
	at := from
	for at < len(text) {
		mark := ""
		if at < unsure {
			mark = again
		}
		line := irc.Split(text[at:], c.room()-len(mark))
		end := at + len(line[0].Text)
		all = append(all, piece{text: c.prefix + mark + line[0].Text, bare: line[0].Text, upto: end})
		if len(line) > 1 && !line[1].Concat {
			end++ // the newline
			all[len(all)-1].upto = end
		}
		at = end
	}
	return all
}

// said returns how many bytes at the beginning of rest were sent in the line heard, or 0
// if the line is unrelated. The line may or may not be marked (again). It may have been
// cut at a different position, because a longer nick leaves less room in a line.
func (c cutter) said(rest, heard string) int {
	line, ok := strings.CutPrefix(heard, c.prefix)
	if !ok {
		return 0
	}
	for _, line := range []string{line, strings.TrimPrefix(line, again)} {
		n := len(line)
		switch {
		case n == 0 || !strings.HasPrefix(rest, line):
		case n == len(rest) || n >= c.room()/2 && rest[n] != '\n':
			return n
		case rest[n] == '\n':
			return n + 1
		}
	}
	return 0
}

// alike reports whether the line heard and rest begin with the same characters.
func (c cutter) alike(rest, heard string) bool {
	line, ok := strings.CutPrefix(heard, c.prefix)
	line = strings.TrimPrefix(line, again)
	return ok && line != "" && strings.HasPrefix(rest, line[:min(len(line), 16)])
}
