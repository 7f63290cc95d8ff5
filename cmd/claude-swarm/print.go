package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

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

// textWidth is how wide lines may be for whoever reads w: the width of the
// terminal, and 0, which is no limit, where there is none.
func textWidth(w io.Writer) int {
	if !isTerminal(w) {
		return 0
	}
	return screenWidth(w)
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
	return fmt.Sprintf("%.*f USD", digitsOf(amount), amount)
}

// digitsOf is how many digits behind the point amounts have that stand in one column.
func digitsOf(amounts ...float64) int {
	for _, amount := range amounts {
		if amount > 0 && amount < 0.01 {
			return 4
		}
	}
	return 2
}

// count says "1 message", "3 messages".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
