package runner

import (
	"path"
	"strings"
)

// Protected lists the files that belong to the swarm, to git and to the clients' own
// settings. The client's tools for files must not use them, whatever the agent's list of
// allowed tools says. It does not limit what a command does.
type Protected struct {
	Unread    []ProtectedPath // neither read nor changed
	Unwritten []ProtectedPath // read, but not changed
}

// A ProtectedPath is a file or a folder, with everything below it.
type ProtectedPath struct {
	Dir string // an absolute, clean path, in which no character has a special meaning
	// Name is a path below Dir, with slashes; "" means Dir itself. In one part of it, *
	// stands for any text. The part ** stands for any number of parts.
	Name string
}

// Contains reports whether an absolute, clean path is in the protected path. Upper and lower case
// are equal, as they are in many file systems.
func (p ProtectedPath) Contains(file string) bool {
	rest, ok := below(p.Dir, file)
	return ok && fitsParts(parts(p.Name), rest, false)
}

// IsBelow reports whether the protected path is, or may be, in the folder with the given absolute,
// clean path, or is that folder.
func (p ProtectedPath) IsBelow(folder string) bool {
	if _, ok := below(folder, p.Dir); ok {
		return true
	}
	rest, ok := below(p.Dir, folder)
	return ok && !strings.HasPrefix(p.Name, "**") && fitsParts(parts(p.Name), rest, true)
}

// below returns the parts of a path after those of a folder that contains it.
func below(folder, file string) ([]string, bool) {
	in, all := parts(folder), parts(file)
	if len(all) < len(in) {
		return nil, false
	}
	for i := range in {
		if !strings.EqualFold(in[i], all[i]) {
			return nil, false
		}
	}
	return all[len(in):], true
}

func parts(p string) []string {
	return strings.FieldsFunc(p, func(c rune) bool { return c == '/' })
}

// fitsParts reports whether the pattern matches the first parts of a path. If partly is
// true, it is enough that the path matches the first parts of the pattern.
func fitsParts(pattern, names []string, partly bool) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**":
		for i := range len(names) + 1 {
			if fitsParts(pattern[1:], names[i:], partly) {
				return true
			}
		}
		return false
	case len(names) == 0:
		return partly
	}
	ok, err := path.Match(strings.ToLower(pattern[0]), strings.ToLower(names[0]))
	return err == nil && ok && fitsParts(pattern[1:], names[1:], partly)
}
