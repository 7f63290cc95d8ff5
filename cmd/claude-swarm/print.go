package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/mattn/go-isatty"
	"golang.org/x/sys/unix"
)

// width is how wide our tables are where no terminal says more.
const width = 80

// screenWidth is the width of the terminal behind w, within reason.
func screenWidth(w io.Writer) int {
	columns, _ := screenSize(w)
	return columns
}

// screenSize is the size of the terminal behind w; rows is 0 when it is none.
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

// isTerminal tells whether a person looks at w.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && isatty.IsTerminal(f.Fd())
}

// A palette colours text for one writer: only on a terminal, and not when
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

// agentColours are told apart on dark and on light ground.
var agentColours = []color.Attribute{
	color.FgCyan, color.FgGreen, color.FgMagenta, color.FgYellow, color.FgBlue,
	color.FgHiCyan, color.FgHiGreen, color.FgHiMagenta, color.FgHiYellow, color.FgHiBlue,
}

// agentColour is always the same for the same name.
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

// A table lines up its columns. The last column gets what is left of the width
// and is cut there.
type table struct {
	width int  // of the screen; 0 means 80
	spill bool // a last cell that is too long gets a line of its own, from the second column on
	rows  []tableRow
}

type tableRow struct {
	cells []string
	below []string // lines of their own, from the second column on
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, tableRow{cells: cells}) }

// below adds lines under the last row, indented to the second column.
func (t *table) below(lines ...string) {
	last := &t.rows[len(t.rows)-1]
	last.below = append(last.below, lines...)
}

// write prints the table. decorate, when not nil, colours a padded cell; it
// must not change its width on the screen.
func (t *table) write(w io.Writer, decorate func(row, column int, cell string) string) {
	screen := t.width
	if screen == 0 {
		screen = width
	}
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for r, row := range t.rows {
		var line strings.Builder
		room := screen
		for i, cell := range row.cells {
			if i == len(row.cells)-1 {
				if t.spill && utf8.RuneCountInString(cell) > room {
					row.below = append([]string{cell}, row.below...)
					cell = ""
				}
				cell = cut(cell, max(room, 8))
			} else {
				cell += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
				room -= widths[i] + 2
			}
			if decorate != nil {
				cell = decorate(r, i, cell)
			}
			line.WriteString(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
		for _, text := range row.below {
			fmt.Fprintf(w, "%*s%s\n", widths[0]+2, "", cut(text, max(screen-widths[0]-2, 8)))
		}
	}
}

// cut shortens text to n characters, with … where something is missing.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	runes := []rune(text)
	return string(runes[:max(n-1, 0)]) + "…"
}

// oneLine makes text fit for one line of a terminal: white space becomes a
// space, and nothing in it can steer the terminal.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || steers(r)
	}), " ")
}

// steers tells whether a rune does something to the terminal, or turns around
// what stands beside it, so that a line says another thing than is in it.
func steers(r rune) bool {
	return unicode.IsControl(r) || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// plain takes out of text what could steer the terminal, and keeps newlines
// and tabs.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && steers(r) {
			return -1
		}
		return r
	}, text)
}

// span says how long something took or lasts: 850 ms, 12 s, 3 min, 2 h 05 min, 4 d.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d", int(d.Hours())/24)
}

// usd prints an amount of money: cents, and more digits only below one cent.
func usd(amount float64) string {
	if amount > 0 && amount < 0.01 {
		return fmt.Sprintf("%.4f USD", amount)
	}
	return fmt.Sprintf("%.2f USD", amount)
}

// count says "1 message", "3 messages".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
