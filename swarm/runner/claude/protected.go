package claude

import (
	"strings"
	"unicode"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// denied returns the rules that keep the client's tools away from the protected files. A
// rule for Read also applies to Grep, Glob and commands such as cat, and a rule for Edit to
// all tools that change files.
//
// Without such rules, the client (2.1.197 to 2.1.332) lets an agent read everything below
// its working directory, even if its list of allowed tools does not contain Bash, and lets
// it write in three folders of the client's own memory, even if the list contains neither
// Write nor Edit.
func denied(p runner.Protected) (rules []string) {
	for _, file := range p.Unread {
		rules = append(rules, about("Read", file)...)
		rules = append(rules, about("Edit", file)...)
	}
	for _, file := range p.Unwritten {
		rules = append(rules, about("Edit", file)...)
	}
	return rules
}

// about returns the rules of one tool for a file or a folder, and for what is below it.
func about(tool string, p runner.ProtectedPath) []string {
	at := strings.TrimSuffix(literal(p.Dir), "/")
	if p.Name != "" {
		at += "/" + p.Name
	}
	return []string{tool + "(/" + at + ")", tool + "(/" + at + "/**)"}
}

// literal returns a pattern for a path. The client's patterns know no way to take a
// character literally, so each character that may have a meaning in them becomes ?, which
// stands for any one character.
func literal(path string) string {
	return strings.Map(func(c rune) rune {
		if c < 128 && c != '/' && (strings.ContainsRune("*?[]{}()!#\\~@+|^$", c) || unicode.IsSpace(c) || unicode.IsControl(c)) {
			return '?'
		}
		return c
	}, path)
}
