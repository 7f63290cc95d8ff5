package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// These two kinds are special: an entry of the kind execute matches command lines, and tool
// is only a kind of entry, which names tools of MCP servers.
const (
	execute = "execute"
	tool    = "tool"
)

// kinds are the kinds of entries: those of [runner.PermissionRequest] and tool.
var kinds = []string{"read", "edit", "delete", "move", "search", execute, "think", "fetch", "switch_mode", "other", tool}

// Kinds returns the words with which an entry may begin.
func Kinds() []string { return slices.Clone(kinds) }

// An Entry names tool calls.
type Entry struct {
	Kind    string // one of [Kinds]
	Pattern string // with * for any text; "" matches every call of the kind
}

// A KindError is the error for an entry that does not begin with one of [Kinds].
type KindError struct {
	Text string // the entry
	Word string // its first word
}

// Error quotes the word and lists the valid ones.
func (e *KindError) Error() string {
	return fmt.Sprintf("%q is no kind of tool call: %s", e.Word, strings.Join(kinds, ", "))
}

// ParseEntry reads an entry: KIND, or KIND and a pattern. The error is a [*KindError] if
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

// String returns the entry as ParseEntry reads it.
func (e Entry) String() string { return strings.TrimSpace(e.Kind + " " + e.Pattern) }

// maxEntry bounds the entries that EntryFor makes, in bytes.
const maxEntry = 200

// EntryFor returns an entry that allows this call and as little else as possible, or false
// if there is no such entry or it is too long.
func EntryFor(r runner.PermissionRequest) (Entry, bool) {
	e := Entry{Kind: r.Kind}
	switch {
	case r.Tool != "":
		e = Entry{Kind: tool, Pattern: r.Tool}
	case r.Kind == execute:
		e.Pattern = oneSpaced(r.Command)
	case len(r.Paths) == 1:
		e.Pattern = r.Paths[0]
	case len(r.Paths) == 0 && !slices.Contains(ofFiles, r.Kind):
		e.Pattern = r.Title
	}
	got, err := ParseEntry(e.String())
	if e.Pattern == "" || err != nil || got != e || len(e.String()) > maxEntry {
		return Entry{}, false
	}
	answer, _ := Rules{Allow: []Entry{e}, Otherwise: Deny}.Decide(r)
	return e, answer == Allow
}
