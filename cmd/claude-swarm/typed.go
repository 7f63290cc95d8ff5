package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// typedArgs is the key of the typed arguments in the app's metadata.
const typedArgs = "typed"

// commandTyped returns the command line that the person typed.
func commandTyped(c *cli.Context) string {
	typed, _ := c.App.Metadata[typedArgs].([]string)
	return commandText(typed)
}

// typedWith returns the typed command line with word in place of old. The argument word
// can be %s, for use with [unknownAgent].
func typedWith(c *cli.Context, old, word string) string {
	typed, _ := c.App.Metadata[typedArgs].([]string)
	at := slices.Index(typed, old)
	if at < 0 { // for example, old is part of a comma-separated list
		return "claude-swarm " + c.Command.Name + " " + word
	}
	before, after := commandText(typed[:at]), strings.TrimPrefix(commandText(typed[at+1:]), "claude-swarm")
	return before + " " + word + after
}

// retyped returns the typed command line with word in place of the argument at the index
// at.
func retyped(typed []string, at int, word string) string {
	typed = slices.Clone(typed)
	typed[at] = word
	return commandText(typed)
}

// commandText returns a command line that a person can paste into a shell. It replaces an
// argument that is very long or has several lines with "…".
func commandText(args []string) string {
	words := []string{"claude-swarm"}
	for _, arg := range args {
		flag, value, joined := strings.Cut(arg, "=")
		switch {
		case len(arg) > 100 || strings.Contains(arg, "\n"):
			words = append(words, `"…"`)
		case joined && isFlag(arg):
			words = append(words, flag+"="+shellWord(value))
		default:
			words = append(words, shellWord(arg))
		}
	}
	return strings.Join(words, " ")
}
