package ircbridge

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// maxShown is how many lines of a message are said where the server has no multiline
// messages; the rest can be asked for.
const maxShown = 6

// again marks what may have been said before.
const again = "(again) "

// threaded are the tags of what answers a line: clients then show it with that. A server
// without tags is not sent any.
func threaded(msgid string) map[string]string {
	if msgid == "" {
		return nil
	}
	return map[string]string{"+draft/reply": msgid}
}

// A piece is one line, or one multiline message, on its way.
type piece struct {
	text string // as it is posted
	bare string // without prefix and mark
	upto int    // how many bytes of the whole are said with it
}

// A cutter cuts a masked text into pieces.
type cutter struct {
	prefix string // before each piece, such as "[coder] "
	limit  int    // bytes of a line, prefix and all
	whole  bool   // the server takes multiline messages
	read   string // what is typed to read the rest
}

// short is the text as it is said in all: where it has too many lines, the first of
// them, and a line that says how many more there are.
func (c cutter) short(text string) string {
	if c.whole {
		return text
	}
	lines := irc.Split(text, c.room())
	if len(lines) > maxShown+1 { // the line about one more line is a line, too
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

// pieces cuts what of a short text is still to be said, from a byte on. What begins
// before the byte unsure may have been said before, and is marked.
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

// said is how many bytes of rest stand at its beginning in a line that was heard of us,
// marked or not; 0 if the line is another one. It may have been cut at another place: a
// longer nick leaves less of a line.
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

// alike says whether a line that was heard of us begins as rest does.
func (c cutter) alike(rest, heard string) bool {
	line, ok := strings.CutPrefix(heard, c.prefix)
	line = strings.TrimPrefix(line, again)
	return ok && line != "" && strings.HasPrefix(rest, line[:min(len(line), 16)])
}
