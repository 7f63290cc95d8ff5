package main

import (
	"encoding/json"
	"io"
	"os"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// width is the default width of tables, in columns.
const width = 80

// screenWidth returns the width of the terminal behind w, from 40 to 200 columns, or [width]
// if w is not a terminal.
func screenWidth(w io.Writer) int {
	columns, _ := screenSize(w)
	return columns
}

// screenSize returns the size of the terminal behind w. If w is not a terminal, columns is
// [width] and rows is 0.
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

// A palette colours text for one writer. It does so only on a terminal, and not if
// NO_COLOR is set or the terminal is dumb.
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

// agentColours are easy to tell apart on both dark and light backgrounds.
var agentColours = []color.Attribute{
	color.FgCyan, color.FgGreen, color.FgMagenta, color.FgYellow, color.FgBlue,
	color.FgHiCyan, color.FgHiGreen, color.FgHiMagenta, color.FgHiYellow, color.FgHiBlue,
}

// agentColour returns the colour for a name. The same name always gets the same colour.
func agentColour(name string) color.Attribute {
	var sum uint32 = 2166136261 // FNV-1a
	for i := range len(name) {
		sum = (sum ^ uint32(name[i])) * 16777619
	}
	return agentColours[sum%uint32(len(agentColours))]
}

// printJSON prints v as indented JSON with a newline.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// textWidth returns how wide lines for w may be: the width of the terminal, or 0 (no limit)
// if w is not a terminal.
func textWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	return screenWidth(w)
}

// printable returns the text as it may be printed to w. If w is a terminal, printable
// removes the control characters, because the terminal would obey them.
func printable(w io.Writer, text []byte) string {
	if isTerminal(w) {
		return screen.Plain(string(text))
	}
	return string(text)
}
