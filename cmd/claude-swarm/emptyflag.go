package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// textFlags are the flags whose value is text, which may be empty. The values of all others
// name something.
var textFlags = []string{"subject", "why"}

// refuseEmptyNames makes a verb refuse a flag with an empty value, as in --thread "$id" with
// an unset variable. It would otherwise act on everything, as if the flag were missing.
func refuseEmptyNames(verb *cli.Command) {
	action := verb.Action
	if action == nil {
		return
	}
	verb.Action = func(c *cli.Context) error {
		if err := emptyName(c, verb.Flags); err != nil {
			return err
		}
		if err := emptyName(c, c.App.Flags); err != nil {
			return err
		}
		return action(c)
	}
}

func emptyName(c *cli.Context, flags []cli.Flag) error {
	for _, f := range flags {
		name := f.Names()[0]
		empty := false
		switch f.(type) {
		case *cli.StringFlag:
			empty = c.IsSet(name) && strings.TrimSpace(c.String(name)) == ""
		case *cli.StringSliceFlag:
			empty = c.IsSet(name) && slices.ContainsFunc(c.StringSlice(name), func(v string) bool { return strings.TrimSpace(v) == "" })
		}
		if empty && !slices.Contains(textFlags, name) {
			return usagef(strings.Replace(c.Command.HelpName, "claude-swarm", "claude-swarm help", 1), "%s: %s is empty", strings.TrimPrefix(c.Command.HelpName, "claude-swarm "), dashes(name))
		}
	}
	return nil
}
