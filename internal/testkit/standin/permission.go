package standin

import (
	"path/filepath"
	"slices"
	"strings"
)

// ask returns the reason for a refusal in "default" mode, in which the program would
// have to ask a person.
func ask(name string, in *toolInput) string {
	switch name {
	case "Bash":
		return "This command requires approval"
	case "Write", "Edit":
		return "Claude requested permissions to write to " + in.Path + ", but you haven't granted it yet."
	}
	return "Claude requested permissions to use " + name + ", but you haven't granted it yet."
}

// scriptDenial returns the reason why a script may not use a tool, or "". A script is meant
// to run, so only explicit rules apply: the list of forbidden tools, and the modes that
// refuse all calls that are not allowed.
func (c *client) scriptDenial(name string, in *toolInput) string {
	if c.disallowed(name) || matchAny(c.o.denied, name, in) {
		return "Permission to use " + name + " has been denied."
	}
	if (c.o.mode == "dontAsk" || c.o.mode == "plan") && name != "Read" && !matchAny(c.o.allowed, name, in) {
		return "Permission to use " + name + " has been denied because Claude Code is running in don't ask mode."
	}
	return ""
}

// modelDenial returns the reason why a model may not use a tool, or "". All modes apply.
func (c *client) modelDenial(name string, in *toolInput) string {
	if why := c.scriptDenial(name, in); why != "" {
		return why
	}
	switch {
	case c.o.mode == "bypassPermissions", name == "Read", matchAny(c.o.allowed, name, in):
		return ""
	case c.o.mode == "acceptEdits" && (name == "Write" || name == "Edit") && c.inside(in.Path):
		return ""
	}
	return ask(name, in)
}

// inside reports whether path is in the working directory.
func (c *client) inside(path string) bool {
	rel, err := filepath.Rel(c.cwd, c.abs(path))
	return err == nil && filepath.IsLocal(rel)
}

// disallowed reports whether all calls of a tool are forbidden.
func (c *client) disallowed(name string) bool { return slices.Contains(c.o.denied, name) }

// matchAny reports whether one of the rules matches the call. Rules have the form
// "Write", "Bash(make)", "Bash(git *)" or, in the older form, "Bash(git:*)".
func matchAny(rules []string, name string, in *toolInput) bool {
	return slices.ContainsFunc(rules, func(rule string) bool {
		tool, pattern, limited := strings.Cut(rule, "(")
		if tool != name {
			return false
		}
		if !limited {
			return true
		}
		pattern = strings.TrimSuffix(pattern, ")")
		if name != "Bash" {
			return pattern == in.Path
		}
		prefix, open := strings.CutSuffix(pattern, ":*")
		if !open {
			prefix, open = strings.CutSuffix(pattern, " *")
		}
		if !open {
			return in.Command == pattern
		}
		// A rule for one program must not allow a second program in the same command.
		return (in.Command == prefix || strings.HasPrefix(in.Command, prefix+" ")) && !strings.ContainsAny(in.Command, ";&|`$<>\n")
	})
}
