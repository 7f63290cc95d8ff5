package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A table lines up its columns. The last column gets what is left of the width
// and is cut there; where next to nothing is left it gets a separate line.
type table struct {
	width int  // of the across; 0 is 80 for the rows, and no limit for what is kept whole
	spill bool // a last cell that is too long gets a separate line
	keep  int  // where the last column would get too little room, only so many cells stay in a row; 0 is all
	rows  []tableRow
}

type tableRow struct {
	cells []string
	whole bool        // on a separate line the last cell is broken, not cut
	below []tableLine // their own lines
}

// A tableLine stands below a row, indented. One that is whole is broken where it is
// too long, the others are cut.
type tableLine struct {
	text  string
	whole bool
}

const (
	// narrow is below how many columns the lines under a row begin further left than
	// the second column: else nothing would be left for them.
	narrow = 72
	// leastLast is how much room the last column has at least in its row.
	leastLast = 8
	// fewWords is how much room a table that can be folded wants for its last column.
	fewWords = 20
)

func (t *table) add(cells ...string) { t.rows = append(t.rows, tableRow{cells: cells}) }

// last is the row that was added last.
func (t *table) last() *tableRow { return &t.rows[len(t.rows)-1] }

// write prints the table. decorate, when not nil, colours a cell; it must not change
// its width on the across.
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
			row.below = append([]tableLine{{spilled, row.whole}}, row.below...)
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
				fmt.Fprintf(w, "%*s%s\n", indent, "", line)
			}
		}
	}
}

// widths are those of the columns.
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

// crowded tells whether the last column gets less room than it wants, and than a few words
// need.
func (t *table) crowded(widths []int, across int) bool {
	room := across
	for _, n := range widths[:max(len(widths)-1, 0)] {
		room -= n + 2
	}
	return len(widths) > t.keep && room < fewWords && room < widths[len(widths)-1]
}

// fold puts the cells that do not stay in their row into a line below it.
func (t *table) fold() {
	for i := range t.rows {
		row := &t.rows[i]
		if len(row.cells) <= t.keep {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(row.cells[t.keep:]), func(cell string) bool { return cell == "" })
		row.cells = row.cells[:t.keep]
		row.below = append([]tableLine{{strings.Join(rest, "  "), row.whole}}, row.below...)
	}
}

// fitted are the cells of a row, padded and cut so that they fit the across together,
// and the last cell if it is to have a separate line.
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
	// Blanks at the end would be colour on the across, and a line more where they do
	// not fit.
	for i := len(cells) - 1; i >= 0; i-- {
		cells[i] = strings.TrimRight(cells[i], " ")
		if cells[i] != "" {
			return cells[:i+1], spilled
		}
	}
	return nil, spilled
}
