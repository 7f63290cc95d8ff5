package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A look specifies how to draw the status for a person.
type look struct {
	now     time.Time
	paint   palette
	columns int  // 0 means no limit, but an agent's task and last text are still truncated
	short   bool // one line for each agent
}

func lookOf(c *cli.Context, now time.Time) look {
	return look{now: now, paint: paletteOf(c.App.Writer), columns: textWidth(c.App.Writer), short: c.Bool("short")}
}

// A picture is the status in three parts. Each part consists of whole lines, so that
// lines can be omitted on a small screen.
type picture struct{ head, agents, tail string }

func draw(st swarm.Status, l look) picture {
	called(st)
	shown := view.StatusOf(st)
	part := func(write func(io.Writer)) string {
		var b strings.Builder
		write(&b)
		return b.String()
	}
	return picture{
		head:   part(func(w io.Writer) { l.writeHead(w, shown) }),
		agents: part(func(w io.Writer) { l.writeAgents(w, shown) }),
		tail:   part(func(w io.Writer) { l.writeTail(w, shown) }),
	}
}

func (p picture) String() string { return p.head + "\n" + p.agents + p.tail }

// smaller returns the lines of the status for a screen with the given number of rows; 0
// means no limit. If the lines do not fit, each agent gets one line. If those lines do
// not fit either, smaller omits lines but keeps the end of the status, because it shows
// what the person must do.
func smaller(st swarm.Status, l look, rows int) []string {
	all := linesOf(draw(st, l).String())
	if rows < 2 || len(all) <= rows {
		return all
	}
	l.short = true
	short := draw(st, l)
	if lines := linesOf(short.String()); len(lines) <= rows {
		return lines
	}
	head, agents, tail := linesOf(short.head), linesOf(short.agents), linesOf(short.tail)
	tail = slices.DeleteFunc(tail, func(line string) bool { return line == "" })
	if lines := slices.Concat(head, agents, tail); len(lines) <= rows {
		return lines
	}
	room := rows - 1 // one row is reserved for the line with the number of omitted lines
	tail = tail[max(0, len(tail)-max(room/2, min(2, room))):]
	head = head[:min(len(head), max(room/3, 1), room-len(tail))]
	agents = agents[:min(len(agents), room-len(tail)-len(head))]
	if len(agents) == 1 {
		agents = nil // the only remaining line is the head of the table
	}
	left := len(all) - len(head) - len(agents) - len(tail)
	return slices.Concat(head, agents, []string{fmt.Sprintf("… %d more lines", left)}, tail)
}

// linesOf splits a string that ends with a newline into lines.
func linesOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// limits returns a line for each account whose limit parks several agents.
func (l look) limits(st *view.Status) (lines []string) {
	for _, limit := range st.Limits() {
		if !limit.Shared() {
			continue
		}
		// The phrase is removed because the text below already says that the limit ends
		// automatically.
		hint := strings.TrimPrefix(strings.TrimPrefix(limit.Hint, "nothing has to be done"), "; ")
		if hint != "" {
			hint += "; "
		}
		lines = append(lines, screen.OneLine(fmt.Sprintf("limited: %s (%s)", cmp.Or(limit.Why, "the account is at its limit"), strings.Join(limit.Agents, ", ")))+
			"   next: "+screen.OneLine(fmt.Sprintf("%swork continues at %s, or %s for all of them", hint, screen.Clock(limit.Until, l.now), limit.Next())))
	}
	return lines
}

// stateColours are the colors that show at a glance which agents need attention.
var stateColours = map[swarm.State]color.Attribute{
	swarm.Working: color.FgGreen,
	swarm.Asking:  color.FgYellow,
	swarm.Backoff: color.FgYellow,
	swarm.Limited: color.FgYellow,
	swarm.Parked:  color.FgYellow,
	swarm.Paused:  color.FgYellow,
	swarm.Stopped: color.FgRed,
}

// writeHead prints the information about the whole swarm.
func (l look) writeHead(w io.Writer, st *view.Status) {
	p, now, columns := l.paint, l.now, l.columns
	fmt.Fprintln(w, screen.Whole(headline(st.Status, now), columns))
	for _, n := range st.Needed(view.NeedHalted) {
		halted := haltedWords(n)
		line := screen.Whole(halted+"   next: "+n.Next, columns)
		fmt.Fprintln(w, strings.Replace(line, halted, p.paint(halted, color.FgRed, color.Bold), 1))
	}
	for _, n := range st.Needed(view.NeedTrouble) {
		line := screen.OneLine(n.Why)
		if n.Next != "" {
			line += "   next: " + n.Next
		}
		fmt.Fprintln(w, p.paint("! "+strings.ReplaceAll(screen.Whole(line, max(columns-2, 0)), "\n", "\n  "), color.FgYellow))
	}
	for _, line := range l.limits(st) {
		fmt.Fprintln(w, p.paint(screen.Whole(line, columns), color.FgYellow))
	}
}

// writeAgents prints the table of agents.
func (l look) writeAgents(w io.Writer, st *view.Status) {
	p, now, columns := l.paint, l.now, l.columns
	t := table{width: columns, spill: !l.short, alarm: func(line string) string { return p.paint(line, color.FgYellow) }}
	small := columns > 0 && columns < narrow
	longest := 20 // maximum number of columns for a name
	if small {
		longest = min(max(columns-30, 10), longest)
		t.add("AGENT", "STATE", "FOR", "MAIL")
	} else {
		t.add("AGENT", "STATE", "FOR", "MAIL", "DEAD", "USD", "TASK")
	}
	var today []float64
	for _, a := range st.Agents {
		today = append(today, view.CostNow(a).Today)
	}
	digits := screen.Digits(today...)
	for _, a := range st.List() {
		cells := []string{screen.Cut(a.Name, longest), string(a.State), sinceKnown(a.Since, now), waitingText(a.Waiting)}
		if small {
			t.add(cells...)
			t.last().below = narrowDetails(a.AgentStatus)
		} else {
			t.add(append(cells, number(a.Dead), money(view.CostNow(a.AgentStatus), digits), task(a.AgentStatus))...)
		}
		t.last().whole = a.Message == nil
		t.last().below = append(t.last().below, details(a, st.Mixed, now)...)
		if l.short {
			t.last().below = nil
		}
	}
	t.write(w, func(row, column int, cell string) string {
		switch {
		case row == 0:
			return p.paint(cell, color.Bold)
		case column == 0:
			return p.paint(cell, agentColour(strings.TrimSpace(cell)))
		case column == 1:
			if c, ok := stateColours[swarm.State(strings.TrimSpace(cell))]; ok {
				return p.paint(cell, c)
			}
		}
		return cell
	})
}

// writeTail prints the costs, the items that need a person's attention, and the state of
// IRC. Each part is preceded by an empty line.
func (l look) writeTail(w io.Writer, st *view.Status) {
	p, now, columns := l.paint, l.now, l.columns
	if text := costs(st.Cost()); text != "" {
		fmt.Fprintln(w, "\n"+screen.Whole(text, columns))
		for _, part := range []struct {
			of   string
			cost journal.Cost
		}{{"the supervisor", st.Judge}, {"removed agents", st.Removed}} {
			if text := costs(part.cost); text != "" {
				fmt.Fprintln(w, screen.Whole("  of which "+part.of+": "+text, columns))
			}
		}
	}
	for _, line := range haltedLines(st.Needed(view.NeedThread)) {
		fmt.Fprintln(w, "\n"+p.paint(screen.Whole(line, columns), color.FgRed))
	}
	for _, n := range st.Needed(view.NeedRefused) {
		fmt.Fprintln(w, "\n"+screen.Whole(screen.Count(n.Count, "message")+" refused today   next: "+n.Next, columns))
	}
	if st.IRC != nil {
		fmt.Fprintln(w)
		for line := range strings.SplitSeq(ircLine(*st.IRC, now), "\n") {
			fmt.Fprintln(w, screen.Whole(line, columns))
		}
	}
	if text := forYou(st); text != "" {
		fmt.Fprintln(w, "\n"+screen.Whole(text, columns))
	}
}
