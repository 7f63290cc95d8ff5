package acp

import (
	"encoding/json"
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
