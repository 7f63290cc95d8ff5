package acpstandin

import (
	"slices"
	"strings"
	"time"
)

// A step is one line of a script.
type step struct{ word, arg string }

// words contains the words that a script can use; doc.go explains them.
var words = []string{"say", "think", "sh", "write", "double", "deny", "tool", "sleep", "hang", "cost", "context", "compact", "steer", "late", "fail", "status", "noresult"}

// script returns the steps of a prompt. It ignores lines from earlier turns that the
// prompt repeats.
func script(prompt string) []step {
	var steps []step
	given := false
	for line := range strings.Lines(prompt) {
		line = strings.TrimRight(line, "\r\n")
		given = (given || strings.HasPrefix(line, "<prior-context")) && !strings.Contains(line, "</prior-context>")
		word, arg, _ := strings.Cut(line, " ")
		if word, ok := strings.CutPrefix(word, "@"); ok && !given && slices.Contains(words, word) {
			steps = append(steps, step{word, strings.TrimSpace(arg)})
		}
	}
	return steps
}

// duration parses a string such as 3s or 250ms. It returns 0 for an invalid string.
func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}
