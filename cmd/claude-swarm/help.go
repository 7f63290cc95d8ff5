package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// firstVerbs are the verbs for everyday work. The help lists them first.
var firstVerbs = []string{"init", "start", "send", "status", "inbox", "read", "stop"}

// helpGroups are the groups of the other verbs, in the order of the help.
var helpGroups = []string{groupAgents, groupMail, groupTopics, groupDaemon, groupProject}

// These are the texts of the program's own help.
const (
	helpUsage = "[--config FILE] VERB [ARGUMENT…]"
	helpAbout = "Agents have mailboxes, which are folders. An agent works on each message that is\n" +
		"left in its mailbox, and the answer comes to the lead's mailbox."
	helpEndings = "Ending things: abort ends a turn and gives its message up; cancel takes back a\n" +
		"waiting message; pause blocks an agent's new turns; stop ends agents or the\n" +
		"daemon after their turns (--now: immediately); halt blocks all new turns."
	helpStatus = "Exit status: 0 done, 1 failed, 2 wrong command line, 3 no such agent, message or\n" +
		"project, 4 no daemon, 5 timeout, 6 refused by a rule, 7 nothing was permitted,\n" +
		"78 bad configuration."
)

// writeHelp prints the help for the program or for the last verb in chain. A verb's
// Description is prose that ends with examples; see [examples].
func writeHelp(w io.Writer, app *cli.App, chain []*cli.Command) {
	if len(chain) == 0 {
		fmt.Fprintf(w, "usage: claude-swarm %s\n\n%s\n", helpUsage, helpAbout)
		fmt.Fprint(w, "\neveryday verbs:\n")
		for _, name := range firstVerbs {
			if c := find(app.Commands, name); c != nil {
				fmt.Fprintf(w, "  %-12s %s\n", c.Name, c.Usage)
			}
		}
		for _, group := range helpGroups {
			fmt.Fprintf(w, "\n%s:\n", group)
			writeVerbs(w, app.Commands, group)
		}
		fmt.Fprint(w, "\noptions:\n")
		writeFlags(w, app.Flags)
		fmt.Fprintf(w, "\n%s\n\nclaude-swarm help VERB tells you more about one verb.\n%s\n", helpEndings, helpStatus)
		return
	}
	c := chain[len(chain)-1]
	usage := path(chain)
	if args := argumentsOf(c); args != "" {
		usage += " " + args
	}
	fmt.Fprintf(w, "usage: %s\n\n%s\n", usage, strings.TrimSpace(c.Description))
	if len(c.Subcommands) > 0 {
		fmt.Fprint(w, "\nverbs:\n")
		writeVerbs(w, c.Subcommands, "")
	}
	if len(c.Flags) > 0 {
		fmt.Fprint(w, "\noptions:\n")
		writeFlags(w, c.Flags)
	}
}

// argumentsOf returns what can follow a verb on the command line, as the help shows it.
func argumentsOf(c *cli.Command) string {
	var parts []string
	switch arg, optional := strings.CutPrefix(c.ArgsUsage, "["); {
	case len(c.Subcommands) > 0 && optional: // one or the other, or neither
		parts = append(parts, "[VERB | "+arg)
	case len(c.Subcommands) > 0:
		parts = append(parts, "VERB")
	case c.ArgsUsage != "":
		parts = append(parts, c.ArgsUsage)
	}
	if len(c.Flags) > 0 {
		parts = append(parts, "[options]")
	}
	return strings.Join(parts, " ")
}

func writeVerbs(w io.Writer, commands []*cli.Command, group string) {
	for _, c := range commands {
		if !c.Hidden && c.Category == group && (group == "" || !slices.Contains(firstVerbs, c.Name)) {
			fmt.Fprintf(w, "  %-12s %s\n", c.Name, c.Usage)
		}
	}
}

func writeFlags(w io.Writer, flags []cli.Flag) {
	for _, f := range flagHelps(flags) {
		left, usage := strings.Join(f.Names, ", "), f.Usage
		if f.Value != "" {
			left += " " + f.Value
		}
		if len(left) > 16 {
			fmt.Fprintf(w, "  %s\n", left)
			left = ""
		}
		margin := strings.Repeat(" ", 19)
		usage = strings.TrimPrefix(indent(screen.Wrap(usage, width-len(margin)), margin), margin)
		fmt.Fprintf(w, "  %-16s %s\n", left, usage)
	}
}

// A flagHelp is the help for a flag.
type flagHelp struct {
	Names []string `json:"names"`           // with their dashes
	Value string   `json:"value,omitempty"` // the placeholder for its value
	Usage string   `json:"usage,omitempty"`
}

// flagHelps returns the help for the flags that are not hidden.
func flagHelps(flags []cli.Flag) []flagHelp {
	var all []flagHelp
	for _, f := range flags {
		doc, ok := f.(cli.DocGenerationFlag)
		if v, may := f.(cli.VisibleFlag); !ok || may && !v.IsVisible() {
			continue
		}
		h := flagHelp{Usage: doc.GetUsage()}
		for _, n := range f.Names() {
			h.Names = append(h.Names, dashes(n))
		}
		// The word in backquotes is the placeholder for the flag's value.
		if before, rest, ok := strings.Cut(h.Usage, "`"); ok {
			value, after, _ := strings.Cut(rest, "`")
			h.Value, h.Usage = value, before+value+after
		}
		all = append(all, h)
	}
	return all
}
