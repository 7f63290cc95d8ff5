package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// shellWord quotes a word in a hint for a shell if necessary.
func shellWord(word string) string { return view.ShellWord(word) }

// byteCount returns a number of bytes as text.
func byteCount(n int) string { return screen.Thousands(n) + " bytes" }

// indent adds a prefix to each line and removes trailing spaces.
func indent(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(prefix+line, " ")
	}
	return strings.Join(lines, "\n")
}

// since returns the time that has passed since t, as text.
func since(t, now time.Time) string {
	d := now.Sub(t)
	if d < time.Second {
		return "0 s" // milliseconds would change with every redraw
	}
	return screen.Span(d)
}

// number returns a number as text, or a dash for 0.
func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// timeText formats a time in the local time zone. It returns the time of day with seconds
// or, if at is not today, the date and the time without seconds.
func timeText(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04")
}

// firstLine returns the first line of text.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
