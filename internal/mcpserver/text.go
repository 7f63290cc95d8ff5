package mcpserver

import (
	"fmt"
	"strings"
	"time"
)

// A text is the readable form of a result, built line by line.
type text struct{ strings.Builder }

// line starts a new line with formatted text.
func (t *text) line(format string, args ...any) {
	if t.Len() > 0 {
		t.WriteByte('\n')
	}
	t.add(format, args...)
}

// add appends formatted text to the current line.
func (t *text) add(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// remark adds a note on a new line, unless the note is empty.
func (t *text) remark(note string) {
	if note != "" {
		t.line("%s", note)
	}
}

// stamp formats a time for a result.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// inBrief removes the middle of an error that quotes a long argument, because the
// argument is already in the model's context. It keeps the end, which says what to do.
func inBrief(text string) string {
	const most, kept = 2000, 600
	if len(text) <= most {
		return text
	}
	left := len(text) - 2*kept
	return strings.ToValidUTF8(text[:kept], "") + fmt.Sprintf(" … (%d bytes) … ", left) + strings.ToValidUTF8(text[len(text)-kept:], "")
}
