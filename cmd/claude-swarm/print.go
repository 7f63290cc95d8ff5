package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// width is the default width of tables, in columns.
const width = 80

// screenWidth returns the width of the terminal to which w writes, limited to the range from
// 40 to 200 columns, or [width] if w is not a terminal.
func screenWidth(w io.Writer) int {
	columns, _ := screenSize(w)
	return columns
}

// screenSize returns the size of the terminal to which w writes, with the columns limited
// to the range from 40 to 200. If w is not a terminal, columns is [width] and rows is 0.
func screenSize(w io.Writer) (columns, rows int) {
	f, ok := fileOf(w)
	if !ok {
		return width, 0
	}
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return width, 0
	}
	return min(max(int(size.Col), 40), 200), int(size.Row)
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && isatty.IsTerminal(f.Fd())
}

// A palette colors the text for one writer. It adds colors only if the writer is a
// terminal, the terminal is not dumb, and NO_COLOR is not set.
type palette bool

func paletteOf(w io.Writer) palette {
	return palette(isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb")
}

func (p palette) paint(text string, attrs ...color.Attribute) string {
	if !p || text == "" {
		return text
	}
	c := color.New(attrs...)
	c.EnableColor()
	return c.Sprint(text)
}

// agentColours are easy to distinguish on both dark and light backgrounds.
var agentColours = []color.Attribute{
	color.FgCyan, color.FgGreen, color.FgMagenta, color.FgYellow, color.FgBlue,
	color.FgHiCyan, color.FgHiGreen, color.FgHiMagenta, color.FgHiYellow, color.FgHiBlue,
}

// agentColour returns the color for a name. The same name always has the same color.
func agentColour(name string) color.Attribute {
	var sum uint32 = 2166136261 // FNV-1a
	for i := range len(name) {
		sum = (sum ^ uint32(name[i])) * 16777619
	}
	return agentColours[sum%uint32(len(agentColours))]
}

// printJSON prints v as indented JSON with a newline at the end.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// textWidth returns the maximum width of the lines for w: the width of the terminal, or 0
// (no limit) if w is not a terminal.
func textWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	return screenWidth(w)
}

// writeSteps writes suggested commands in one line or, if that is too wide for the terminal,
// in a line each.
func writeSteps(w io.Writer, steps ...string) {
	columns := textWidth(w)
	line := strings.Join(steps, " · ")
	if columns == 0 || screen.Columns(line) <= columns {
		steps = []string{line}
	}
	for _, step := range steps {
		fmt.Fprintln(w, screen.Whole(step, columns))
	}
}

// narrowed returns a writer to which whole lines are written. If w is a terminal, lines that
// are too wide for it are broken between words, and keep their margin.
func narrowed(w io.Writer) io.Writer {
	if columns := textWidth(w); columns > 0 {
		return narrowWriter{w, columns}
	}
	return w
}

// A narrowWriter breaks the lines of each Write.
type narrowWriter struct {
	w       io.Writer
	columns int
}

func (n narrowWriter) Write(text []byte) (int, error) {
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if screen.Columns(line) > n.columns {
			lines[i] = n.broken(line)
		}
	}
	if _, err := io.WriteString(n.w, strings.Join(lines, "\n")); err != nil {
		return 0, err
	}
	return len(text), nil
}

// broken breaks a line. The new lines begin in the column of the second part of the line if
// several spaces precede that part, as in a list of options, and else in that of the first.
func (n narrowWriter) broken(line string) string {
	rest := strings.TrimLeft(line, " ")
	head := line[:len(line)-len(rest)]
	if left, right, ok := strings.Cut(rest, "  "); ok {
		right = strings.TrimLeft(right, " ")
		if at := screen.Columns(head) + screen.Columns(left); at < n.columns/2 {
			head, rest = strings.TrimSuffix(line, right), right
		}
	}
	margin := strings.Repeat(" ", screen.Columns(head))
	return head + strings.TrimPrefix(indent(screen.Whole(rest, max(n.columns-len(margin), 1)), margin), margin)
}

// printable returns the text in a form that can safely be printed to w. If w is a
// terminal, it removes the control characters, because the terminal would interpret them.
func printable(w io.Writer, text []byte) string {
	if isTerminal(w) {
		return screen.Plain(string(text))
	}
	return string(text)
}
