package acp

import (
	"encoding/json"
	"slices"
	"strings"
)

// tools reads tool inputs in the form of toolCall.input.
type tools struct{}

// About returns the command line, the path or the title.
func (tools) About(_ string, input []byte) string {
	var in toolInput
	lenient(input, &in)
	for _, text := range []string{in.Command, in.Path, in.Title} {
		if text != "" {
			return text
		}
	}
	return ""
}

// Changes returns the path of a call that edits, deletes or moves a file.
func (tools) Changes(tool string, input []byte) string {
	if tool != edit && tool != remove && tool != move {
		return ""
	}
	var in toolInput
	lenient(input, &in)
	return in.Path
}

// Runs returns the command line of a call whose kind is execute.
func (tools) Runs(tool string, input []byte) string {
	if tool != execute {
		return ""
	}
	var in toolInput
	lenient(input, &in)
	return in.Command
}

// notes lists the tools with which a client only keeps its own notes: opencode's list of
// things to do.
var notes = []string{"todowrite", "todoread"}

// Looks reports whether the kind of a call is read, search, fetch, think or switch_mode and
// the call runs no command, or whether the tool only keeps the client's notes.
func (tools) Looks(tool string, input []byte) bool {
	switch tool {
	case "read", "search", "fetch", "think", "switch_mode":
		var in toolInput
		lenient(input, &in)
		return in.Command == ""
	}
	return slices.Contains(notes, tool)
}

// Waits returns false because the protocol has no kind of tool that waits.
func (tools) Waits(string, []byte) bool { return false }

// Allow returns an entry for permissions. It consists of the tool's name and the command,
// path or title of the call.
func (t tools) Allow(tool string, input []byte) string {
	if about, _, _ := strings.Cut(t.About(tool, input), "\n"); about != "" && json.Valid(input) {
		return tool + " " + about
	}
	return tool
}
