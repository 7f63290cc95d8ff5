package mcpserver

import (
	"fmt"
	"strings"
	"time"
)

// A text is the readable form of a result, line by line.
type text struct{ strings.Builder }

// line begins a line.
func (t *text) line(format string, args ...any) {
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.add(format, args...)
}

// add continues the line.
func (t *text) add(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// remark ends the text with a remark, if there is one.
func (t *text) remark(note string) {
	if note != "" {
		t.line("%s", note)
	}
}

// stamp formats a time for the results.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// inBrief cuts the middle out of an error that repeats a long argument, which would
// otherwise fill the model's context once more. The end of an error says what to do.
func inBrief(text string) string {
	const most, kept = 2000, 600
	if len(text) <= most {
		return text
	}
	left := len(text) - 2*kept
	return strings.ToValidUTF8(text[:kept], "") + fmt.Sprintf(" … (%d bytes) … ", left) + strings.ToValidUTF8(text[len(text)-kept:], "")
}
