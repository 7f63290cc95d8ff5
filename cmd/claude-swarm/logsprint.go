package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A logPrinter prints the log of one agent or the logs of all agents. On a terminal, it shows
// a single agent's text while the agent is writing it. When the line is finished, it prints
// only the missing part.
type logPrinter struct {
	w     io.Writer
	live  bool
	p     palette
	agent string
	open  string   // text that is shown but is not yet a line of the log
	ahead []string // printed entries that the daemon has not yet reported
	gap   bool     // some pieces of text were lost after the last line that the daemon reported
}

// maxAhead is the maximum number of printed entries in logPrinter.ahead. The daemon keeps
// at most this many events, so it never reports an older entry.
const maxAhead = 1024

// logIndent is the prefix of every line of an entry except the first.
const logIndent = "    "

// more prints the lines that were added to t's file since the last call.
func (l *logPrinter) more(t *tail) error {
	lines, err := t.more()
	l.lines(lines)
	if l.live {
		for _, entry := range entriesIn(lines) {
			l.ahead = append(l.ahead, string(entry))
		}
		l.ahead = l.ahead[max(0, len(l.ahead)-maxAhead):]
	}
	return err
}

// told shows a piece of text, unless the whole line has already been printed or an earlier
// piece was lost. The daemon reports a line only after all pieces of its text.
func (l *logPrinter) told(ev swarm.FeedEvent) {
	switch ev.Kind {
	case swarm.FeedPartial:
		if len(l.ahead) == 0 && !l.gap {
			l.partial(ev)
		}
	case swarm.FeedLost:
		l.gap = true
	case swarm.FeedLine:
		l.gap = false
		// The daemon no longer reports earlier entries, such as a line that a person
		// wrote.
		if i := slices.Index(l.ahead, ev.Text); i >= 0 {
			l.ahead = slices.Delete(l.ahead, 0, i+1)
		}
	}
}

// partial shows a piece of a line that the agent is still writing.
func (l *logPrinter) partial(ev swarm.FeedEvent) {
	text := strings.ReplaceAll(screen.Plain(ev.Text), "\n", "\n"+logIndent)
	if l.open == "" {
		text = strings.TrimLeft(text, "\n ")
		if text == "" {
			return
		}
		fmt.Fprint(l.w, l.head(ev.At.Local().Format(time.TimeOnly), l.agent, ev.ID))
	}
	fmt.Fprint(l.w, text)
	l.open += text
}

// lines prints finished lines of the log.
func (l *logPrinter) lines(data []byte) {
	for _, entry := range entriesIn(data) {
		l.entry(strings.TrimSuffix(string(entry), "\n"))
	}
}

func (l *logPrinter) entry(entry string) {
	if l.live {
		entry = screen.Plain(entry)
	}
	head, body, ok := strings.Cut(entry, "  ")
	words := strings.Fields(head)
	if !ok || len(words) != 3 {
		l.finish()
		fmt.Fprintln(l.w, entry)
		return
	}
	if l.open != "" {
		if rest, ok := restOf(body, l.open); ok {
			fmt.Fprintln(l.w, rest)
			l.open = ""
			return
		}
		l.finish()
	}
	fmt.Fprintln(l.w, l.head(words[0], words[1], words[2])+l.colour(body))
}

// restOf returns the part of a line's body that has not been shown yet. ok is false if
// the body does not begin with the shown text. The body does not contain the whitespace
// at the end of the text, and if the text is long, the body contains only its beginning.
func restOf(body, shown string) (rest string, ok bool) {
	body = strings.TrimLeft(body, "\n ") // the shown text is trimmed in the same way
	if rest, ok := strings.CutPrefix(body, shown); ok {
		return rest, true
	}
	if i := strings.LastIndex(body, " … ("); i >= 0 && strings.HasSuffix(body, " bytes in all)") {
		return "", strings.HasPrefix(shown, body[:i])
	}
	return "", strings.TrimRight(shown, "\n ") == strings.TrimRight(body, "\n ")
}

// finish adds a line break after shown text that does not match the log.
func (l *logPrinter) finish() {
	if l.open != "" {
		fmt.Fprintln(l.w)
		l.open = ""
	}
}

func (l *logPrinter) head(at, agent, id string) string {
	return l.p.paint(at, color.Faint) + " " + l.p.paint(agent, agentColour(agent)) + " " + l.p.paint(id, color.Faint) + "  "
}

func (l *logPrinter) colour(body string) string {
	switch {
	case strings.HasPrefix(body, "$ "):
		return l.p.paint(body, color.Faint)
	case strings.HasPrefix(body, "= "):
		return l.p.paint(body, color.Bold)
	case strings.HasPrefix(body, "✗ "):
		return l.p.paint(body, color.FgRed)
	}
	return body
}
