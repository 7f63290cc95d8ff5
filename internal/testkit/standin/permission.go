package standin

import (
	"path/filepath"
	"slices"
	"strings"
)

// ask returns the objection of the mode "default", which would have to ask a person.
func ask(name string, in *toolInput) string {
	switch name {
	case "Bash":
		return "This command requires approval"
	case "Write", "Edit":
		return "Claude requested permissions to write to " + in.Path + ", but you haven't granted it yet."
	}
	return "Claude requested permissions to use " + name + ", but you haven't granted it yet."
}

// scriptDenial applies to the tools of a script. A script is meant to run, so only explicit
// rules count: a list of forbidden tools, and the modes that refuse everything that is not
// allowed.
func (c *client) scriptDenial(name string, in *toolInput) string {
	if c.disallowed(name) || matchAny(c.o.denied, name, in) {
		return "Permission to use " + name + " has been denied."
	}
	if (c.o.mode == "dontAsk" || c.o.mode == "plan") && name != "Read" && !matchAny(c.o.allowed, name, in) {
		return "Permission to use " + name + " has been denied because Claude Code is running in don't ask mode."
	}
	return ""
}

// modelDenial applies to the tools that a model calls. All modes apply to them.
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

// disallowed reports whether a tool as a whole is on the forbidden list.
func (c *client) disallowed(name string) bool { return slices.Contains(c.o.denied, name) }

// matchAny reports whether one of the rules names the call: "Write", "Bash(make)",
// "Bash(git *)" or, in the older form, "Bash(git:*)".
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
		// A rule for one program must not allow a second one after it.
		return (in.Command == prefix || strings.HasPrefix(in.Command, prefix+" ")) && !strings.ContainsAny(in.Command, ";&|`$<>\n")
	})
}
