package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func ircDoctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "test the connection, and show what the server can do",
		Description: `Connects once with the settings in the configuration, shows what the server
offers, what it lacks and its limits, and disconnects. It joins no channel
and sends nothing that anybody sees. It can run alongside the bridge, since its
nick is one character longer.` +
			examples("claude-swarm irc doctor", "claude-swarm irc doctor --json"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return withChat(ircDoctor)(c)
		},
	}
}

func ircDoctor(c *cli.Context, p *post) error {
	o, err := ircOptions(p.project, p.Store, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	report, err := ircbridge.Doctor(c.Context, o)
	if err != nil {
		return hint(err, "check that the server is running, and irc: in claude-swarm.yaml")
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, report)
	}
	writeIRCReport(c.App.Writer, report)
	return nil
}

// writeIRCReport prints the findings about an IRC server.
func writeIRCReport(w io.Writer, r ircbridge.Report) {
	p := paletteOf(w)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s %s\n", p.paint(fmt.Sprintf("%-9s", name), color.Faint), screen.OneLine(value))
		}
	}
	how := "in the clear"
	if r.TLS {
		how = "over TLS"
	}
	server := r.Server
	if r.Network != "" {
		server += " (" + r.Network + ")"
	}
	line("server", fmt.Sprintf("%s, %s, greeted within %d ms", server, how, r.Took.Milliseconds()))
	line("nick", r.Nick)
	line("account", cmp.Or(r.Account, "none"))
	line("mask", r.Mask)
	line("offers", cmp.Or(strings.Join(r.Caps, " "), "nothing beyond plain IRC"))
	var limits []string
	for _, l := range []struct {
		name  string
		value int
	}{
		{"text %d bytes", r.Limits.Text}, {"nick %d", r.Limits.Nick}, {"channel %d", r.Limits.Channel}, {"topic %d", r.Limits.Topic},
		{"multiline %d bytes", r.Limits.MultilineBytes}, {"%d lines of history", r.Limits.History},
	} {
		if l.value > 0 {
			limits = append(limits, fmt.Sprintf(l.name, l.value))
		}
	}
	line("limits", strings.Join(limits, ", "))
	for _, m := range r.Missing {
		line("lacks", m)
	}
	for _, problem := range r.Problems {
		fmt.Fprintln(w, p.paint("! "+screen.OneLine(problem), color.FgYellow))
	}
}
