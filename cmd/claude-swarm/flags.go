package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// isFlag reports whether an argument is a flag: one or two dashes and a word, optionally
// followed by = and a value. An argument such as "- one" or "-5 degrees" is not a flag, so
// that the text of a message can begin with a dash.
func isFlag(arg string) bool {
	word, dashed := strings.CutPrefix(arg, "-")
	word, _, _ = strings.Cut(strings.TrimPrefix(word, "-"), "=")
	if !dashed || word == "" || !isLetter(word[0]) {
		return false
	}
	for i := range len(word) {
		if c := word[i]; !isLetter(c) && c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func lookup(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

// takesValue reports whether the next argument is the value of f. It returns false for a
// flag with an optional value, such as --wait[=D]. The value of such a flag has an
// IsBoolFlag method that returns true.
func takesValue(f cli.Flag) bool {
	if g, ok := f.(*cli.GenericFlag); ok {
		b, ok := g.Value.(interface{ IsBoolFlag() bool })
		return !ok || !b.IsBoolFlag()
	}
	_, isBool := f.(*cli.BoolFlag)
	return !isBool
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// path returns the command line of a verb, such as "claude-swarm dead list".
func path(chain []*cli.Command) string {
	words := []string{"claude-swarm"}
	for _, c := range chain {
		words = append(words, c.Name)
	}
	return strings.Join(words, " ")
}

func helpFor(chain []*cli.Command) string {
	return strings.Replace(path(chain), "claude-swarm", "claude-swarm help", 1)
}

func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}
