package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// These two kinds are special: an entry of the kind execute matches command lines, and tool
// is a kind that only entries can have, to name the tools of MCP servers.
const (
	execute = "execute"
	tool    = "tool"
)

// kinds lists the kinds of entries: those of [runner.PermissionRequest], and tool.
var kinds = []string{"read", "edit", "delete", "move", "search", execute, "think", "fetch", "switch_mode", "other", tool}

// Kinds returns the valid first words of an entry.
func Kinds() []string { return slices.Clone(kinds) }

// An Entry specifies a set of tool calls.
type Entry struct {
	Kind    string // one of [Kinds]
	Pattern string // * stands for any text; "" matches every call of the kind
}

// A KindError reports an entry that does not begin with one of [Kinds].
type KindError struct {
	Text string // the entry
	Word string // its first word, which is not one of [Kinds]
}

// Error quotes the invalid word and lists the valid ones.
func (e *KindError) Error() string {
	return fmt.Sprintf("%q is not a kind of tool call; the kinds are %s", e.Word, strings.Join(kinds, ", "))
}

// ParseEntry parses an entry: a kind, or a kind and a pattern. The error is a
// [*KindError] if the kind is unknown.
func ParseEntry(text string) (Entry, error) {
	word, pattern, _ := strings.Cut(strings.TrimSpace(text), " ")
	e := Entry{Kind: word, Pattern: strings.TrimSpace(pattern)}
	switch {
	case !slices.Contains(kinds, word):
		return Entry{}, &KindError{Text: text, Word: word}
	case word == tool && e.Pattern == "":
		return Entry{}, fmt.Errorf("%q does not name a tool; write tool NAME, or tool * for all", text)
	}
	return e, nil
}

// String returns the entry in the form that ParseEntry accepts.
func (e Entry) String() string { return strings.TrimSpace(e.Kind + " " + e.Pattern) }

// maxEntry is the maximum length of an entry that EntryFor returns, in bytes.
const maxEntry = 200

// EntryFor returns an entry that allows a call and as little else as possible. It returns
// false if there is no such entry or it would be too long.
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
