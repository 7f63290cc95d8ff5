package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

func diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Category:  groupAgents,
		Usage:     "show what a turn or a task changed",
		ArgsUsage: "AGENT [ID]",
		Description: `Prints what the agent's newest turn changed, as a unified diff; what a running
turn has changed so far. With the ID of a message, it shows all turns for that
message; with the ID of the first message of a task, all turns of the agent in
the task.

Without a worktree, it shows what the client's own tools wrote, from the
recorded output of the turn. Commands may have changed more, so they are listed.
Several writes of one file are joined; if something else changed the file in
between, each is shown. For a turn in a worktree, git tells the changes.` +
			examples("claude-swarm diff coder", "claude-swarm diff coder k7f3 --stat", "claude-swarm diff coder --json"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "stat", Usage: "only the files, with the numbers of lines"},
			&cli.BoolFlag{Name: "full", Usage: "files with more than 2,000 lines of changes, too"},
			jsonFlag(),
		},
		Action: withPost(diff),
	}
}

func diff(c *cli.Context, p *post) error {
	if c.NArg() < 1 || c.NArg() > 2 {
		return usagef("claude-swarm status", "diff: name one agent, and one message or none")
	}
	name, id := c.Args().Get(0), c.Args().Get(1)
	if !p.isGone(name) {
		if _, err := p.agent(name, strings.Join(append([]string{"claude-swarm diff %s"}, c.Args().Slice()[1:]...), " ")); err != nil {
			return err
		}
	}
	if err := private(p.MaySee(name)); err != nil {
		return err
	}
	d, err := view.DiffOf(c.Context, p.Client, p.file.ProjectDir, name, id, c.Bool("full"))
	if e, ok := errors.AsType[*view.NoTurnError](err); ok {
		return hintNoTurn(e)
	} else if err != nil {
		return notFound(err, id)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, d)
	}
	w := &diffWriter{w: c.App.Writer, p: paletteOf(c.App.Writer), stat: c.Bool("stat"), now: time.Now()}
	w.write(d)
	return nil
}

// hintNoTurn adds a hint to the error about an agent that had no turn.
func hintNoTurn(e *view.NoTurnError) error {
	next := "claude-swarm history " + e.Agent
	switch {
	case e.ID == "":
		next = fmt.Sprintf("claude-swarm send %s \"what to do\"", e.Agent)
	case e.To == e.Agent:
		next = "claude-swarm read " + e.ID
	case e.To != "":
		next = "claude-swarm trace " + e.ID
	}
	return &hintError{err: e, code: exitUnknown, hint: next}
}

// A diffWriter prints a diff for people.
type diffWriter struct {
	w    io.Writer
	p    palette
	stat bool
	now  time.Time
}

func (d *diffWriter) write(v *view.Diff) {
	for i, t := range v.Turns {
		if i > 0 {
			fmt.Fprintln(d.w)
		}
		d.turn(v.Agent, t)
	}
	if len(v.Turns) > 1 {
		fmt.Fprintf(d.w, "\n%s, %s, +%d -%d\n", screen.Count(len(v.Turns), "turn"), screen.Count(v.Files, "file"), v.Added, v.Deleted)
	}
}

// turn prints one turn: who and when, what is known about its changes as a whole, and the files.
func (d *diffWriter) turn(agent string, t view.TurnDiff) {
	text := narrowed(d.w)
	head := []string{agent, t.Turn, timeText(t.Begun, d.now), t.Outcome}
	if t.Outcome == view.OutcomeRunning {
		head[3] = "running, so far"
	}
	if t.Branch != "" {
		head = append(head, "branch "+t.Branch)
	}
	if t.Subject != "" {
		head = append(head, screen.Cut(screen.OneLine(t.Subject), 60))
	}
	fmt.Fprintln(text, d.p.paint(printable(d.w, []byte(strings.Join(head, " · "))), color.Bold))
	if len(t.Files) == 0 && t.Missing == "" {
		fmt.Fprintln(text, "no file was written"+map[bool]string{true: " by the client's own tools"}[t.Commit == ""])
	}
	if t.Missing != "" {
		fmt.Fprintln(text, printable(d.w, []byte(screen.OneLine(t.Missing))))
	}
	if len(t.Named) > 0 {
		fmt.Fprintln(text, printable(d.w, []byte("files in the receipt: "+strings.Join(t.Named, ", "))))
	}
	if n := len(t.Others); n > 0 {
		fmt.Fprintln(text, printable(d.w, []byte(othersLine(t.Others))))
	}
	if d.stat {
		d.stats(t.Files)
		return
	}
	for _, f := range t.Files {
		d.file(f)
	}
}

// maxOthers is the number of commands that the line about them shows.
const maxOthers = 3

// othersLine returns the line about the calls that may have changed more.
func othersLine(others []string) string {
	line := "a command or tool ran that may have changed more: "
	if n := len(others); n > 1 {
		line = fmt.Sprintf("%d commands or tools ran that may have changed more: ", n)
	}
	var shown []string
	for _, o := range others[:min(len(others), maxOthers)] {
		shown = append(shown, screen.Cut(screen.OneLine(o), 50))
	}
	if len(others) > maxOthers {
		shown = append(shown, "…")
	}
	return line + strings.Join(shown, " · ")
}

// stats prints the files as a table.
func (d *diffWriter) stats(files []view.FileDiff) {
	if len(files) == 0 {
		return
	}
	t := &table{width: screenWidth(d.w)}
	for _, f := range files {
		t.add(printable(d.w, []byte(f.Path)), f.Status, fmt.Sprintf("+%d", f.Added), fmt.Sprintf("-%d", f.Deleted), fileNote(f))
	}
	t.write(d.w, func(_, column int, cell string) string {
		switch column {
		case 2:
			return d.p.paint(cell, color.FgGreen)
		case 3:
			return d.p.paint(cell, color.FgRed)
		}
		return cell
	})
}

// fileNote says what is unusual about the changes of a file.
func fileNote(f view.FileDiff) string {
	var notes []string
	if f.Writes > 1 {
		notes = append(notes, fmt.Sprintf("written %d times", f.Writes))
	}
	if f.Note != "" {
		notes = append(notes, f.Note)
	}
	return strings.Join(notes, "; ")
}

// file prints the changes of one file. The line above each patch is one that git apply and patch
// skip.
func (d *diffWriter) file(f view.FileDiff) {
	head := fmt.Sprintf("%s · %s · +%d -%d", f.Path, f.Status, f.Added, f.Deleted)
	if note := fileNote(f); note != "" {
		head += " · " + note
	}
	fmt.Fprintf(d.w, "\n%s\n", d.p.paint(printable(d.w, []byte(screen.OneLine(head))), color.Bold))
	for _, patch := range f.Patches {
		body := false
		for line := range strings.Lines(patch) {
			line = strings.TrimSuffix(line, "\n")
			var attrs []color.Attribute
			switch {
			case strings.HasPrefix(line, "@@"):
				body = true
				attrs = append(attrs, color.FgCyan)
			case !body:
				attrs = append(attrs, color.Bold)
			case strings.HasPrefix(line, "+"):
				attrs = append(attrs, color.FgGreen)
			case strings.HasPrefix(line, "-"):
				attrs = append(attrs, color.FgRed)
			}
			line = printable(d.w, []byte(line))
			if len(attrs) > 0 {
				line = d.p.paint(line, attrs...)
			}
			fmt.Fprintln(d.w, line)
		}
	}
}
