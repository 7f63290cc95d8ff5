package permission

import (
	"fmt"
	"slices"
	"strings"
)

// Two kinds: execute is about a command line; tool is only a kind of an entry, about a tool of
// an MCP server.
const (
	execute = "execute"
	tool    = "tool"
)

// kinds are the kinds of entries: those of [runner.PermissionRequest], and tool.
var kinds = []string{"read", "edit", "delete", "move", "search", execute, "think", "fetch", "switch_mode", "other", tool}

// Kinds are the words with which an entry may begin.
func Kinds() []string { return slices.Clone(kinds) }

// An Entry names tool calls.
type Entry struct {
	Kind    string // one of [Kinds]
	Pattern string // with * for any text; "" fits every call of the kind
}

// A KindError is about an entry that does not begin with one of [Kinds].
type KindError struct {
	Text string // the entry
	Word string // its first word
}

// Error quotes the word, and says what it should be.
func (e *KindError) Error() string {
	return fmt.Sprintf("%q is no kind of tool call: %s", e.Word, strings.Join(kinds, ", "))
}

// ParseEntry reads an entry: KIND, or KIND and a pattern. The error is a [*KindError] where
// the kind is unknown.
func ParseEntry(text string) (Entry, error) {
	word, pattern, _ := strings.Cut(strings.TrimSpace(text), " ")
	e := Entry{Kind: word, Pattern: strings.TrimSpace(pattern)}
	switch {
	case !slices.Contains(kinds, word):
		return Entry{}, &KindError{Text: text, Word: word}
	case word == tool && e.Pattern == "":
		return Entry{}, fmt.Errorf("%q names no tool; write tool NAME, or tool * for all", text)
	}
	return e, nil
}

// String is the entry as ParseEntry reads it.
func (e Entry) String() string { return strings.TrimSpace(e.Kind + " " + e.Pattern) }
