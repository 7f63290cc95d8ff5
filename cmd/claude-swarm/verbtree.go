package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// verbTreeName is the verb from which the manual pages are made.
const verbTreeName = "__verbs"

// verbTreeCommand returns the verb that prints the help of all verbs as JSON. Packaging
// makes the manual pages of it.
func verbTreeCommand() *cli.Command {
	return &cli.Command{
		Name: verbTreeName, Hidden: true,
		Action: func(c *cli.Context) error { return printJSON(c.App.Writer, newVerbTree(c.App)) },
	}
}

// A verbTree is the JSON output of the verb __verbs: the help of the program.
type verbTree struct {
	V         int         `json:"v"`
	Usage     string      `json:"usage"`
	Arguments string      `json:"arguments"`
	About     string      `json:"about"`
	Endings   string      `json:"endings"`
	Status    string      `json:"status"` // the exit statuses
	Flags     []flagHelp  `json:"flags"`
	Everyday  []string    `json:"everyday"` // the names of the verbs that the help lists first
	Groups    []verbGroup `json:"groups"`
}

// A verbGroup contains the verbs of one group, and those of it that the help lists first.
type verbGroup struct {
	Name  string     `json:"name"`
	Verbs []verbHelp `json:"verbs"`
}

// A verbHelp is the help for a verb.
type verbHelp struct {
	Name        string     `json:"name"`
	Usage       string     `json:"usage"`
	Arguments   string     `json:"arguments,omitempty"`
	Description string     `json:"description"`
	Flags       []flagHelp `json:"flags,omitempty"`
	Verbs       []verbHelp `json:"verbs,omitempty"`
}

func newVerbTree(app *cli.App) verbTree {
	t := verbTree{V: 1, Usage: app.Usage, Arguments: helpUsage, About: helpAbout, Endings: helpEndings, Status: helpStatus,
		Flags: flagHelps(app.Flags), Everyday: firstVerbs}
	for _, group := range helpGroups {
		in := slices.DeleteFunc(slices.Clone(app.Commands), func(c *cli.Command) bool { return c.Category != group })
		t.Groups = append(t.Groups, verbGroup{group, verbHelps(in)})
	}
	return t
}

func verbHelps(commands []*cli.Command) []verbHelp {
	var all []verbHelp
	for _, c := range commands {
		if !c.Hidden {
			all = append(all, verbHelp{c.Name, c.Usage, argumentsOf(c), strings.TrimSpace(c.Description), flagHelps(c.Flags), verbHelps(c.Subcommands)})
		}
	}
	return all
}
