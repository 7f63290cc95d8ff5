package main

import (
	"fmt"
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Category: groupProject,
		Usage: "find out what is wrong with this project or this machine",
		Description: `Looks at the configuration, the agents' programs, folders and their modes, the
file system, the daemon, what earlier turns left behind, and git. One line for
each thing, and what to do where something is not as it should be. Exit status 1
when something is wrong; warnings do not count.` +
			examples("claude-swarm doctor", "claude-swarm doctor --json"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			path, err := findConfig(c)
			if err != nil {
				return err
			}
			p, err := locate(c)
			if err != nil {
				return err
			}
			note := rendezvous.ReadNote(p.home.LockFile())
			order := provision.DoctorOptions{Config: path, Version: version, Getenv: os.Getenv, Socket: note.Socket}
			if lockHeld(p.home) {
				order.LockedBy = note.PID
				if note.PID == 0 {
					order.LockedBy = -1
				}
			}
			findings := provision.Examine(c.Context, order)
			if err := c.Context.Err(); err != nil {
				return err
			}
			if c.Bool("json") {
				err = printJSON(c.App.Writer, map[string]any{"v": 1, "healthy": provision.Healthy(findings), "findings": findings})
			} else {
				writeFindings(c.App.Writer, findings)
			}
			if err == nil && !provision.Healthy(findings) {
				err = fail(exitFailed, "", "something is wrong here")
			}
			return err
		},
	}
}

func writeFindings(w io.Writer, findings []provision.Finding) {
	p := paletteOf(w)
	colours := map[provision.Grade]color.Attribute{provision.Good: color.FgGreen, provision.Warn: color.FgYellow, provision.Wrong: color.FgRed}
	for _, f := range findings {
		fmt.Fprintf(w, "%s %s: %s\n", p.paint(fmt.Sprintf("%-5s", f.Grade), colours[f.Grade]), f.Name, f.Text)
		if f.Try != "" {
			fmt.Fprintf(w, "        try: %s\n", f.Try)
		}
	}
}
