package main

import (
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// newApp builds the commands that a command line needs, or all commands if args is empty. It
// opens no files, because each verb opens the files that it needs.
func newApp(args []string, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:        "claude-swarm",
		Usage:       "files in folders wake coding agents",
		HideVersion: true,
		HideHelp:    true, // writeHelp prints the help instead
		Reader:      stdin,
		Writer:      stdout,
		ErrWriter:   stderr,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "config", Usage: "read the configuration from `FILE`, not from the claude-swarm.yaml of this folder or one above it"},
		},
		Commands:       commandsFor(args),
		ExitErrHandler: func(*cli.Context, error) {}, // run reports the errors instead
	}
	app.OnUsageError = badValue
	each(app.Commands, "", func(c *cli.Command, name string) {
		c.HideHelp = true
		c.OnUsageError = badValue
		rightful(c, name)
		refuseEmptyNames(c)
	})
	return app
}

// each calls f for every command and, recursively, for its subcommands. The name of a
// subcommand contains those above it, as in "dead list"; above is "" for the verbs.
func each(commands []*cli.Command, above string, f func(c *cli.Command, name string)) {
	for _, c := range commands {
		f(c, above+c.Name)
		each(c.Subcommands, above+c.Name+" ", f)
	}
}

// badValue rewords the flag parser's error about an invalid value to match the other
// errors of this program.
func badValue(c *cli.Context, err error, _ bool) error {
	text := strings.TrimSuffix(err.Error(), ": parse error")
	if before, after, found := strings.Cut(text, "for flag -"); found {
		name, _, _ := strings.Cut(after, ":")
		text = before + "for " + dashes(name) + after[len(name):]
	}
	next := "claude-swarm help"
	if c != nil && c.Command != nil && c.Command.Name != "" && c.Command.Name != c.App.Name {
		next = strings.Replace(c.Command.HelpName, "claude-swarm", next, 1)
	}
	return usagef(next, "%s", text)
}
