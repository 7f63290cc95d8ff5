package permission

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// tool is the kind of an entry about a tool of an MCP server.
const tool = "tool"

// kinds are the kinds of entries: those of [runner.PermissionRequest], and tool.
var kinds = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other", tool}

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

// concerns reports whether an entry of deny or ask holds for a call: its pattern fits a part
// of the command line, or one of the paths.
func (e Entry) concerns(r runner.PermissionRequest) bool {
	if !e.about(r) {
		return false
	}
	return e.Pattern == "" || slices.ContainsFunc(e.subjects(r), func(s string) bool {
		if e.Kind != "execute" {
			return fits(e.Pattern, s, "")
		}
		for _, part := range beginnings(s) {
			if fits(e.Pattern, part, "") || fits(e.Pattern+" *", part, "") {
				return true
			}
		}
		return false
	})
}

// allows reports whether an entry of allow holds for a call.
func (e Entry) allows(r runner.PermissionRequest) bool {
	if !e.about(r) {
		return false
	}
	subjects, barred := e.subjects(r), ""
	if e.Kind == "execute" {
		barred = operators
	}
	return e.Pattern == "" || len(subjects) > 0 && !slices.ContainsFunc(subjects, func(s string) bool { return !fits(e.Pattern, s, barred) })
}

// about reports whether the kind of the entry is that of a call.
func (e Entry) about(r runner.PermissionRequest) bool {
	return e.Kind == r.Kind || e.Kind == tool && r.Tool != ""
}

// subjects are the texts of a call that a pattern is compared with.
func (e Entry) subjects(r runner.PermissionRequest) []string {
	switch {
	case e.Kind == tool:
		return []string{r.Tool}
	case e.Kind == "execute" && r.Command != "":
		return []string{strings.Join(strings.FieldsFunc(r.Command, func(c rune) bool { return c == ' ' || c == '\t' }), " ")}
	case e.Kind != "execute" && len(r.Paths) > 0:
		return r.Paths
	}
	return []string{r.Title}
}

// operators are the characters with which a shell begins another command, writes to a file, or
// expands a text.
const operators = ";&|<>()$`\n\r"

// beginnings are the ends of a command line that begin where a word does.
func beginnings(line string) []string {
	all := []string{line}
	for i, c := range line {
		if strings.ContainsRune(" '\"\\/={}!"+operators, c) {
			all = append(all, line[i+1:])
		}
	}
	return all
}

// fits reports whether the pattern fits the whole text. A * stands for any text without the
// characters of barred.
func fits(pattern, text, barred string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	after, ok := strings.CutPrefix(text, head)
	if !ok || !star {
		return ok && after == ""
	}
	for {
		if fits(rest, after, barred) {
			return true
		}
		if after == "" || strings.IndexByte(barred, after[0]) >= 0 {
			return false
		}
		after = after[1:]
	}
}
