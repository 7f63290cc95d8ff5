package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A sample contains one value for each round.
type sample []float64

// median returns the middle value of a sample. If there are two middle values, it returns
// the lower one, because their mean is not a measured value.
func (s sample) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(s))[(len(s)-1)/2]
}

// A row is a line of the table with its measurements.
type row struct {
	What   string   `json:"what"`
	Floor  *spread  `json:"floor,omitempty"`
	Ours   spread   `json:"ours"`
	Ratio  *float64 `json:"ratio,omitempty"`
	AtMost bool     `json:"at_most"` // the goal is an upper bound
	Goal   *float64 `json:"goal,omitempty"`
	OK     *bool    `json:"ok,omitempty"` // absent if there is no goal

	unit string // unit of Goal if Goal is not a ratio
}

// A spread summarizes a sample.
type spread struct {
	Unit   string  `json:"unit"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func spreadOf(unit string, s sample) spread {
	return spread{Unit: unit, Median: s.median(), Min: slices.Min(s), Max: slices.Max(s)}
}

// rowOf makes the row for a goal from its samples.
func rowOf(g goal, measured map[value]sample) row {
	r := row{What: g.what, Ours: spreadOf(g.ours.unit, measured[g.ours]), AtMost: g.how != speed}
	if g.floor.of.bench != "" {
		floor := spreadOf(g.floor.unit, measured[g.floor])
		r.Floor = &floor
	}
	judged := r.Ours.Median
	switch {
	case g.how == bound:
		r.unit = g.ours.unit
	case g.how == excess:
		r.unit = g.ours.unit
		judged = r.Ours.Median - r.Floor.Median
	case (g.how == speed) != g.inverse:
		judged = r.Floor.Median / r.Ours.Median
	default:
		judged = r.Ours.Median / r.Floor.Median
	}
	if g.how == excess {
		times := r.Ours.Median / r.Floor.Median
		r.Ratio = &times
	} else if g.how != bound {
		if g.times != 0 {
			judged *= g.times
		}
		r.Ratio = &judged
	}
	if g.is != 0 {
		ok := judged <= g.is
		if g.how == speed {
			ok = judged >= g.is
		}
		r.Goal, r.OK = &g.is, &ok
	}
	return r
}

// write prints the table, at most 80 columns wide. Token counts are printed in a sentence
// below the table, because they do not depend on the machine.
func write(w io.Writer, machine string, rounds int, rows []row) {
	fmt.Fprintf(w, "%s\n%d rounds: median, least–most\n\n", machine, rounds)
	fmt.Fprintf(w, "%-21s %-17s %-17s %5s %s\n", "what", "floor", "ours", "ratio", "goal")
	var counted []row
	for _, r := range rows {
		if r.unit == "tokens" {
			counted = append(counted, r)
			continue
		}
		floor, ratio, aim, word := "", "", "", ""
		if r.Floor != nil {
			floor = r.Floor.text()
		}
		if r.Ratio != nil {
			ratio = fmt.Sprintf("%.2f", *r.Ratio)
		}
		if r.Goal != nil {
			aim = "≥ " + exact(*r.Goal)
			if r.AtMost {
				aim = "≤ " + exact(*r.Goal)
			}
			if r.unit != "" {
				f, unit := scale(r.unit, *r.Goal)
				aim = strings.TrimRight("≤ "+exact(*r.Goal/f)+" "+unit, " ")
			}
			word = "missed"
			if *r.OK {
				word = "ok"
			}
		}
		line := fmt.Sprintf("%-21s %-17s %-17s %5s %-8s %s", r.What, floor, r.Ours.text(), ratio, aim, word)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	for _, r := range counted {
		fmt.Fprintf(w, "\n%s: %s tokens (goal %s)", r.What, thousands(r.Ours.Median), thousands(*r.Goal))
		if !*r.OK {
			fmt.Fprint(w, ", missed")
		}
		fmt.Fprintln(w)
	}
}

// thousands formats a count with a comma, such as 2,500.
func thousands(x float64) string {
	n := int(x)
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// text returns a median and its spread in the same unit, such as "112 µs 104–131".
func (s spread) text() string {
	f, unit := scale(s.Unit, s.Median)
	one := number(s.Median / f)
	if unit != "" {
		one += " " + unit
	}
	if s.Min == s.Max {
		return one
	}
	return one + " " + number(s.Min/f) + "–" + number(s.Max/f)
}

// scale chooses the unit in which to show a number of about this size.
func scale(unit string, size float64) (factor float64, shown string) {
	switch unit {
	case "ns/op", "p50-ns", "p99-ns", "first-ns", "new-ns", "again-ns", "cpu-ns":
		switch {
		case size >= 0.2e9:
			return 1e9, "s"
		case size >= 1e6:
			return 1e6, "ms"
		case size >= 1e3:
			return 1e3, "µs"
		}
		return 1, "ns"
	case "B/op":
		return 1 << 20, "MiB"
	case "MB/s":
		if size >= 1000 {
			return 1000, "GB/s"
		}
		return 1, "MB/s"
	case "MiB":
		return 1, "MiB"
	case "KiB/agent":
		return 1, "KiB"
	}
	if strings.HasPrefix(unit, "switches/s") {
		return 1, "/s"
	}
	return 1, ""
}

// exact formats a number that is not a measurement, such as a goal.
func exact(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// number formats a value: without decimals if it is whole or large, and otherwise with two
// or three significant figures.
func number(x float64) string {
	switch a := math.Abs(x); {
	case x == math.Trunc(x), a >= 9.95:
		return fmt.Sprintf("%.0f", x)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
