package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/compat"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

func compatCommand() *cli.Command {
	return &cli.Command{
		Name: "compat", Category: groupProject, ArgsUsage: "[PROGRAM]",
		Usage: "test whether your Claude Code behaves as claude-swarm needs it",
		Description: `Runs an experiment for each fact about Claude Code on which claude-swarm
relies, with the program of this project's agents, or with PROGRAM. The model
is scripted and runs on this machine, so no account is needed and nothing is
paid. The client gets a home folder that is deleted afterwards; it reads and
changes nothing of yours. It takes a few minutes and much of two processors.

An answer is yes, no or differs: claude-swarm works with the answer, but the
client's request or output has a form that no tested version has. The exit
status is 1 if an answer is no. The result is kept until the program's file
changes; doctor, start and status mention it.` +
			examples("claude-swarm compat", "claude-swarm compat --json ~/.local/bin/claude"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: testClient,
	}
}

// echoCommand returns the verb that the clients of the experiments start.
func echoCommand() *cli.Command {
	return &cli.Command{
		Name: "echo", Usage: "an MCP server for claude-swarm compat",
		Description: "An MCP server with one tool, for the experiments of claude-swarm compat.",
		Action: func(c *cli.Context) error {
			compat.ServeEcho(os.Stdin, c.App.Writer)
			return nil
		},
	}
}

func testClient(c *cli.Context) error {
	command, err := clientToTest(c)
	if err != nil {
		return err
	}
	self, err := ownProgram()
	if err != nil {
		return err
	}
	cache, err := compat.UserCache()
	if err != nil {
		return hint(err, "export HOME=~")
	}
	// If one of these signals arrives, the clients end before this program does.
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// SIGPIPE arrives if the program that reads the output has exited, which the next line of
	// output tells, and if a client has exited, which is its answer.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	o := compat.Options{Command: command, Server: []string{self, "hook", "echo"}, AtOnce: 2}
	if !c.Bool("json") {
		fmt.Fprintf(c.App.Writer, "testing %s: %d facts, without an account\n", strings.Join(command, " "), len(compat.Facts()))
		o.Told = func(a compat.Answer) {
			if writeAnswer(c.App.Writer, a) != nil {
				stop()
			}
		}
	}
	report, err := compat.Run(ctx, o)
	if err != nil {
		switch {
		case c.Context.Err() != nil:
			return c.Context.Err()
		case ctx.Err() != nil:
			return fail(exitInterrupted, "", "the test was stopped before it was done")
		}
		return hint(err, "claude-swarm doctor")
	}
	result, err := cache.Keep(command, report)
	if err != nil {
		return fmt.Errorf("keep the result: %w", err)
	}
	if c.Bool("json") {
		err = printJSON(c.App.Writer, result)
	} else {
		fmt.Fprintf(c.App.Writer, "Claude Code %s (supported: %s): %s\n", result.Version, claude.Supported, result)
	}
	if failed := result.Count(compat.No) + result.Count(compat.Unknown); err == nil && failed > 0 {
		err = fail(exitFailed, claude.Kind().Version.Install, "claude-swarm does not work with %d of %d answers", failed, len(result.Answers))
	}
	return err
}

// clientToTest returns the command that the argument names, or that of the project's agents,
// or claude.
func clientToTest(c *cli.Context) ([]string, error) {
	if c.NArg() > 1 {
		return nil, usagef(testHere, "compat takes one program")
	}
	if c.NArg() == 1 {
		return programToTest([]string{c.Args().First()}, testHere)
	}
	kind := claude.Kind()
	p, err := loadProject(c)
	if exitCode(err) == exitUnknown {
		return programToTest(kind.Command, kind.Install)
	} else if err != nil {
		return nil, err
	}
	var commands [][]string
	for _, a := range p.file.Agents {
		if a.Backend == kind.Name && !slices.ContainsFunc(commands, func(c []string) bool { return slices.Equal(c, a.Client.Command) }) {
			commands = append(commands, a.Client.Command)
		}
	}
	switch len(commands) {
	case 0:
		return nil, fail(exitFailed, testHere+" claude", "no agent of this project runs %s", kind.Title)
	case 1:
		return programToTest(commands[0], "command: in claude-swarm.yaml")
	}
	return nil, usagef(testHere+" "+shellWord(commands[0][0]), "the agents of this project run %d programs; name one", len(commands))
}

func programToTest(command []string, try string) ([]string, error) {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return nil, fail(exitFailed, try, "%s cannot be run: %w", command[0], err)
	}
	if path, err = filepath.Abs(path); err != nil { // the experiments run in other folders
		return nil, err
	}
	return append([]string{path}, command[1:]...), nil
}

// writeAnswer prints an answer as one line, and how a form differs.
func writeAnswer(w io.Writer, a compat.Answer) error {
	colours := map[compat.State]color.Attribute{compat.Yes: color.FgGreen, compat.No: color.FgRed, compat.Unknown: color.FgRed, compat.Differs: color.FgYellow}
	text := a.Claim
	if saw := strings.TrimPrefix(strings.TrimPrefix(a.Text, "no: "), "not determined: "); saw != string(a.State) {
		text += ": " + printable(w, []byte(saw))
	}
	_, err := fmt.Fprintf(w, "%s %s\n", paletteOf(w).paint(fmt.Sprintf("%-7s", a.State), colours[a.State]), indented(text, 8, textWidth(w)))
	if a.State == compat.Differs {
		for _, line := range compat.Difference(a.Known, a.Shape) {
			fmt.Fprintf(w, "        %s\n", printable(w, []byte(line)))
		}
	}
	return err
}
