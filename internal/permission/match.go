package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A call is a tool call with the strings that patterns are matched against.
type call struct {
	runner.PermissionRequest
	line  line     // for the kind execute
	paths []string // in every form that an entry may use, links resolved or not
}

// concerns reports whether an entry in deny or ask applies to a call, that is, whether its
// pattern matches part of the command line or one of the paths.
func (e Entry) concerns(c *call) bool {
	switch {
	case e.Pattern != "" && (e.Kind == "edit" && c.mayChange() || e.Kind == "read" && c.Kind == "search") && slices.ContainsFunc(c.paths, e.fits):
		return true // such as to delete the file, or to search it
	case !e.about(c):
		return false
	case e.Pattern == "":
		return true
	case e.Kind == tool:
		return fits(e.Pattern, c.Tool, "")
	}
	if e.Kind != execute {
		return slices.ContainsFunc(append([]string{c.Title}, c.paths...), e.fits)
	}
	if len(c.Beside) > 0 && fits("*"+e.Pattern+"*", string(c.Beside), "") {
		return true
	}
	for _, text := range append([]string{c.Title, c.line.text}, c.line.plain...) {
		for _, command := range beginnings(text) {
			if e.fits(command) || slices.ContainsFunc(withoutOptions(command), e.fits) {
				return true
			}
		}
	}
	return false
}

// fits reports whether the pattern matches a string, or the first words of a command.
func (e Entry) fits(text string) bool {
	return fits(e.Pattern, text, "") || e.Kind == execute && fits(e.Pattern+" *", text, "")
}

// allows reports whether an entry in allow matches a whole call.
func (e Entry) allows(c *call, dir string) bool {
	switch {
	case !e.about(c):
		return false
	case e.Pattern == "":
		return true
	case e.Kind == tool:
		return fits(e.Pattern, c.Tool, "")
	case e.Kind == execute:
		// A pattern allows a command, but no additional rights that the client requests
		// with it.
		return c.Command != "" && len(c.Beside) == 0 && !c.line.bad && fits(e.Pattern, c.line.text, operators)
	case len(c.Paths) > 0:
		return !slices.ContainsFunc(c.Paths, func(p string) bool { return !e.allowsPath(p, dir) })
	}
	return !slices.Contains(ofFiles, e.Kind) && fits(e.Pattern, c.Title, "")
}

// allowsPath reports whether the pattern matches a path and the file to which its links
// lead. That file may also be any file in the agent's folder.
func (e Entry) allowsPath(p, dir string) bool {
	match := func(form string) bool { return fits(e.Pattern, form, "") }
	forms := formsOf(p, dir)
	leads := runner.ResolveLinks(wholeOf(p, dir))
	if leads == forms[0] || !path.IsAbs(leads) {
		return slices.ContainsFunc(forms, match)
	}
	real := formsOf(leads, runner.ResolveLinks(dir))
	return slices.ContainsFunc(real, match) || len(real) > 1 && slices.ContainsFunc(forms, match)
}

// about reports whether an entry applies to calls of this kind.
func (e Entry) about(c *call) bool { return e.Kind == c.Kind || e.Kind == tool && c.Tool != "" }

// ofFiles lists the kinds of calls that concern files. If such a call has no path, its
// files are unknown.
var ofFiles = []string{"read", "edit", "delete", "move"}

// mayChange reports whether the call may change the files that it names. A call of the kind
// delete or move does, and so may one whose kind says nothing about files.
func (c *call) mayChange() bool {
	return !slices.Contains([]string{"read", "search", "think", "fetch", "switch_mode", execute}, c.Kind)
}

// operators lists the characters that make a shell start another command, write to a file,
// or expand text.
const operators = ";&|<>()$`\n\r"

// mostOptions limits how many words withoutOptions looks at.
const mostOptions = 16

// withoutOptions returns a command that begins with options, such as git -C x push, without
// some of them, including git push. Which options are followed by a value differs from
// program to program, so it returns the command in all forms that are possible.
func withoutOptions(command string) (forms []string) {
	words := strings.Split(command, " ")
	for i := 1; i+1 < len(words) && i < mostOptions; i++ {
		isOption := strings.HasPrefix(words[i], "-")
		if !isOption && (i == 1 || !strings.HasPrefix(words[i-1], "-")) {
			break
		}
		forms = append(forms, words[0]+" "+strings.Join(words[i+1:], " "))
	}
	return forms
}

// beginnings returns the suffixes of a string that start where a word may start.
func beginnings(text string) []string {
	all := []string{text}
	for i, c := range text {
		if strings.ContainsRune(" '\"\\/={}!"+operators, c) {
			all = append(all, text[i+1:])
		}
	}
	return all
}

// fits reports whether the pattern matches the whole text. A * matches any text that does
// not contain the characters in barred. Each * matches as little as possible, so text
// that contains a barred character may fail to match even if a longer match for * would
// avoid that character.
func fits(pattern, text, barred string) bool {
	parts := strings.Split(pattern, "*")
	text, ok := strings.CutPrefix(text, parts[0])
	last := len(parts) - 1
	if !ok || last == 0 {
		return ok && text == ""
	}
	for _, part := range parts[1:last] {
		skipped, rest, found := strings.Cut(text, part)
		if !found || strings.ContainsAny(skipped, barred) {
			return false
		}
		text = rest
	}
	skipped, ok := strings.CutSuffix(text, parts[last])
	return ok && !strings.ContainsAny(skipped, barred)
}
