package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Category: groupProject,
		Usage: "find out what is wrong with this project or this machine",
		Description: `Checks the configuration, the agents' programs and logins, hooks, folders and
their modes, the file system, the daemon, leftovers from earlier turns, what
init made, and git. It sends a message to a scripted agent in a scratch project.
It starts each client that speaks the Agent Client Protocol, such as codex and
gemini, once, for at most a minute, and checks that the client accepts the
agents' tools; no model is called. It prints one line for each check, with what
to do if something is wrong. The exit status is then 1; warnings do not count.

--fix repairs what is safe to repair: modes, mailboxes, and missing lines that
init adds.` +
			examples("claude-swarm doctor", "claude-swarm doctor --fix", "claude-swarm doctor --json"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "fix", Usage: "fix what can be fixed safely"}, jsonFlag()},
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
			order := provision.DoctorOptions{Config: path, Version: version, Getenv: os.Getenv, InstallScript: npmInstallScript(), SpecOf: specOf, Tested: doctorTested}
			if note, held := discovery.Holder(p.home.LockFile()); held {
				order.LockedBy, order.Socket = note.PID, note.Socket
				if note.PID == 0 {
					order.LockedBy = -1
				}
			}
			if order.Program, err = ownProgram(); err != nil {
				return err
			}
			findings := provision.Examine(c.Context, order)
			if c.Bool("fix") && mend(c.App.ErrWriter, findings) {
				findings = provision.Examine(c.Context, order)
			}
			if err := c.Context.Err(); err != nil {
				return err
			}
			if c.Bool("json") {
				err = printJSON(c.App.Writer, map[string]any{"v": 1, "healthy": provision.Healthy(findings), "findings": findings})
			} else {
				writeFindings(c.App.Writer, textWidth(c.App.Writer), findings)
			}
			if err == nil && !provision.Healthy(findings) {
				err = fail(exitFailed, "", "something is wrong here")
			}
			return err
		},
	}
}

// mend fixes the fixable findings and reports whether it fixed any.
func mend(w io.Writer, findings []provision.Finding) (did bool) {
	for _, f := range findings {
		if !f.Fixable {
			continue
		}
		if err := f.Fix(); err != nil {
			fmt.Fprintf(w, "not fixed: %s: %s: %v\n", f.Name, f.Text, err)
			continue
		}
		did = true
		fmt.Fprintf(w, "fixed: %s: %s\n", f.Name, f.Text)
	}
	return did
}

// writeFindings prints findings and wraps lines that are longer than columns. If columns
// is 0, the length is not limited.
func writeFindings(w io.Writer, columns int, findings []provision.Finding) {
	p := paletteOf(w)
	colours := map[provision.Grade]color.Attribute{provision.Good: color.FgGreen, provision.Warn: color.FgYellow, provision.Wrong: color.FgRed}
	for _, f := range findings {
		fmt.Fprintf(w, "%s %s\n", p.paint(fmt.Sprintf("%-5s", f.Grade), colours[f.Grade]), indented(f.Name+": "+f.Text, 6, columns))
		if f.Try != "" {
			fmt.Fprintf(w, "        %s\n", indented("try: "+f.Try, 8, columns))
		}
	}
}

// indented wraps text whose first line will begin at column at, and indents all other
// lines to that column. No line extends past columns. If columns is 0, the length is not
// limited.
func indented(text string, at, columns int) string {
	return strings.ReplaceAll(screen.Whole(text, max(columns-at, 0)), "\n", "\n"+strings.Repeat(" ", at))
}
