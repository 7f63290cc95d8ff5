package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A table prints rows with aligned columns. The last column gets the remaining width, and
// its cells are truncated to fit. If almost no width remains, the last cell of a row is
// printed on a separate line.
type table struct {
	width int  // the width of the screen; 0 means 80 for rows and no limit for lines that are not truncated
	spill bool // a last cell that is too long is printed on a separate line
	keep  int  // number of cells that stay in a row if the last column is too narrow; 0 means all
	rows  []tableRow
	alarm func(line string) string // colors a line whose alarm is set; nil means no color
}

type tableRow struct {
	cells []string
	whole bool        // on a separate line, the last cell is wrapped, not truncated
	below []tableLine // further lines
}

// A tableLine is an indented line below a row. A line that is too long is wrapped if whole
// is set, and truncated otherwise.
type tableLine struct {
	text  string
	whole bool
	alarm bool // the line is colored
}

const (
	// narrow is the screen width below which the lines under a row are not indented to
	// the second column, because they would have too little space there.
	narrow = 72
	// leastLast is the minimum width of the last cell in its row. With less space, the
	// cell is printed on a separate line.
	leastLast = 8
	// fewWords is the minimum width of the last column. With less space, the table is
	// folded.
	fewWords = 20
)

func (t *table) add(cells ...string) { t.rows = append(t.rows, tableRow{cells: cells}) }

// last returns the row that was added last.
func (t *table) last() *tableRow { return &t.rows[len(t.rows)-1] }

// write prints the table. The function decorate, if not nil, colors a cell. It must not
// change the cell's width on the screen.
func (t *table) write(w io.Writer, decorate func(row, column int, cell string) string) {
	across := cmp.Or(t.width, width)
	widths := t.widths()
	if t.keep > 0 && t.crowded(widths, across) {
		t.fold()
		widths = t.widths()
	}
	indent := 2
	if across >= narrow && len(widths) > 0 {
		indent += widths[0]
	}
	for r, row := range t.rows {
		cells, spilled := t.fitted(row, widths, across)
		if spilled != "" {
			row.below = append([]tableLine{{text: spilled, whole: row.whole}}, row.below...)
		}
		for i, cell := range cells {
			if decorate != nil {
				cells[i] = decorate(r, i, cell)
			}
		}
		fmt.Fprintln(w, strings.Join(cells, ""))
		for _, l := range row.below {
			text := screen.Cut(l.text, across-indent)
			if l.whole {
				text = screen.Whole(l.text, max(t.width-indent, 0))
			}
			for line := range strings.SplitSeq(text, "\n") {
				if l.alarm && t.alarm != nil {
					line = t.alarm(line)
				}
				fmt.Fprintf(w, "%*s%s\n", indent, "", line)
			}
		}
	}
}

// widths returns the column widths.
func (t *table) widths() (widths []int) {
	for _, row := range t.rows {
		for i, cell := range row.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], screen.Columns(cell))
		}
	}
	return widths
}

// crowded reports whether the last column is too narrow: narrower than its text and narrower
// than fewWords.
func (t *table) crowded(widths []int, across int) bool {
	room := across
	for _, n := range widths[:max(len(widths)-1, 0)] {
		room -= n + 2
	}
	return len(widths) > t.keep && room < fewWords && room < widths[len(widths)-1]
}

// fold moves all but the first t.keep cells of each row into a line below the row.
func (t *table) fold() {
	for i := range t.rows {
		row := &t.rows[i]
		if len(row.cells) <= t.keep {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(row.cells[t.keep:]), func(cell string) bool { return cell == "" })
		row.cells = row.cells[:t.keep]
		row.below = append([]tableLine{{text: strings.Join(rest, "  "), whole: row.whole}}, row.below...)
	}
}

// fitted returns the cells of a row, padded and truncated so that the row fits the
// screen. The result spilled is the last cell if it must be printed on a separate line.
func (t *table) fitted(row tableRow, widths []int, across int) (cells []string, spilled string) {
	room := across
	for i, cell := range row.cells {
		n := screen.Columns(cell)
		if i == len(row.cells)-1 {
			if n > room && (t.spill || room < leastLast) {
				spilled, cell = cell, ""
			}
			cells = append(cells, screen.Cut(cell, max(room, 0)))
			break
		}
		cell = screen.Cut(cell, max(room, 0))
		room -= widths[i] + 2
		cells = append(cells, cell+strings.Repeat(" ", max(min(widths[i]-n+2, widths[i]-n+2+room), 0)))
	}
	// Trailing spaces are removed because they would be colored, and would wrap if they
	// did not fit.
	for i := len(cells) - 1; i >= 0; i-- {
		cells[i] = strings.TrimRight(cells[i], " ")
		if cells[i] != "" {
			return cells[:i+1], spilled
		}
	}
	return nil, spilled
}
