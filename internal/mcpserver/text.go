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

// add goes on with the line.
func (t *text) add(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// note ends the text with what else there is to know.
func (t *text) note(note string) {
	if note != "" {
		t.line("%s", note)
	}
}

// stamp is a time as all results have it.
func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
