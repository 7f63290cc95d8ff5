package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// A tree prints a trace as a tree of messages.
type tree struct {
	palette
	asked string // the id of the message whose trace was requested
	dir   string // the project's folder; paths in it are shown relative to it
	now   time.Time

	columns int
	all     bool // also show the copies for IRC
}

// write prints a trace. It does not shorten ids, so that a person can use them in other
// commands.
func (t tree) write(w io.Writer, v *view.Trace) {
	for _, root := range t.shown(v.Roots) {
		t.writeMessage(w, root, "", "")
	}
	total := screen.Count(len(v.Messages)-v.Copies, "message") + " · " + screen.Count(v.Turns, "turn")
	if v.CostUSD > 0 || v.CostUnknown > 0 {
		total += " · " + screen.Cost(v.CostUSD, v.CostUnknown > 0)
	}
	if took := v.Ended.Sub(v.Began); took > 0 {
		total += " · " + screen.Took(took)
	}
	switch {
	case v.Copies > 0 && t.all:
		total += fmt.Sprintf(" · %d for IRC", v.Copies)
	case v.Copies > 0:
		total += fmt.Sprintf(" · %d for IRC are left out: --all", v.Copies)
	}
	fmt.Fprintf(w, "\n%s\n", screen.Whole(total, t.columns))
}

// shown returns the messages in a list that will be printed. A copy is printed only with
// --all or if its own trace was requested.
func (t tree) shown(list []*view.TracedMessage) []*view.TracedMessage {
	return slices.DeleteFunc(slices.Clone(list), func(m *view.TracedMessage) bool { return m.Copy && !t.all && m.ID != t.asked })
}

// writeMessage prints a message. The first line begins with the prefix first, and all
// other lines begin with the prefix rest.
func (t tree) writeMessage(w io.Writer, m *view.TracedMessage, first, rest string) {
	id := m.ID
	if id == t.asked {
		id = t.paint(id, color.Bold)
	}
	below := t.shown(m.Below)
	bar := "│ "
	if len(below) == 0 {
		bar = "  "
	}
	room := max(t.columns-screen.Columns(rest)-3, leastLast) // the width of the lines below the first
	when, way := timeText(m.Created, t.now), fmt.Sprintf("%s → %s  %s", m.From, m.To, m.Type)
	used := screen.Columns(first) + 12 + screen.Columns(when) + 2 + screen.Columns(way)
	if used <= t.columns && (t.columns >= narrow || m.Subject == "") {
		fmt.Fprintf(w, "%s%s  %s  %s%s\n", first, id, when, way, t.paint(subjectTail(m, t.columns-used), color.Faint))
	} else {
		fmt.Fprintf(w, "%s%s  %s\n%s%s %s\n", first, id, when, rest, bar, screen.Cut(way, room))
		if m.Subject != "" {
			fmt.Fprintf(w, "%s%s %s\n", rest, bar, t.paint(screen.Cut(screen.OneLine(m.Subject), room), color.Faint))
		}
	}
	for _, n := range t.notes(m) {
		lines := []string{screen.Cut(screen.OneLine(n), room)}
		if t.columns < narrow { // truncated text would be too short to be useful
			lines = strings.Split(screen.Whole(screen.OneLine(n), room), "\n")
		}
		for _, text := range lines {
			fmt.Fprintf(w, "%s%s %s\n", rest, bar, text)
		}
	}
	for i, s := range below {
		if i == len(below)-1 {
			t.writeMessage(w, s, rest+"└─ ", rest+"   ")
		} else {
			t.writeMessage(w, s, rest+"├─ ", rest+"│  ")
		}
	}
}

// subjectTail returns the subject, truncated to the space that remains in its line.
func subjectTail(m *view.TracedMessage, room int) string {
	room -= 2
	if m.Subject == "" || room < 8 {
		return ""
	}
	return "  " + screen.Cut(screen.OneLine(m.Subject), room)
}

// notes returns the lines below a message about its turns and its current state.
func (t tree) notes(m *view.TracedMessage) []string {
	var out []string
	if m.Copy {
		out = append(out, "for IRC")
	}
	for i, turn := range m.Turns() {
		line := fmt.Sprintf("turn %d %s", i+1, turn.Outcome)
		if turn.Reason != "" {
			line += ": " + turn.Reason
		}
		if !turn.End.IsZero() {
			line += " · " + screen.Took(turn.Took())
		}
		if turn.CostUSD > 0 || turn.CostUnknown {
			line += " · " + screen.Cost(turn.CostUSD, turn.CostUnknown)
		}
		if turn.ToolCalls > 0 {
			line += " · " + screen.Count(turn.ToolCalls, "tool call")
		}
		if turn.Compactions > 0 {
			line += " · " + screen.Count(turn.Compactions, "compaction")
		}
		out = append(out, line)
	}
	for _, w := range m.Whispers {
		out = append(out, "~ "+w.At.Local().Format(time.TimeOnly)+" "+w.Text)
	}
	if r := m.Receipt; r != nil {
		if r.Into != "" {
			out = append(out, r.Outcome+" in the turn of "+r.Into)
		}
		if len(r.Files) > 0 {
			out = append(out, "wrote "+strings.ReplaceAll(strings.Join(r.Files, ", "), t.dir+"/", ""))
		}
		for _, d := range r.Decisions {
			if d.Allowed && d.By != "" {
				out = append(out, "allowed by "+d.By+": "+screen.Short(d.About(), 80))
			}
		}
		if len(r.Denied) > 0 {
			out = append(out, "denied "+strings.Join(r.Denied, "; "))
		}
		if r.Outcome != view.OutcomeDone && r.Outcome != view.OutcomeRefused { // the line of the turn says that
			out = append(out, r.Outcome)
		}
		if r.Answer != nil && r.Answer.Refused != "" {
			out = append(out, "not answered: "+r.Answer.Refused)
		}
	}
	switch m.State {
	case view.StateDone:
		if m.Receipt == nil {
			out = append(out, "filed")
		}
	case view.StateRefused:
		out = append(out, "refused: "+cmp.Or(m.Reason, view.NoReason))
	case view.StateDead:
		out = append(out, "dead: "+cmp.Or(m.Reason, view.NoReason))
	case view.StateWaiting:
		out = append(out, "has been waiting for "+screen.Span(t.now.Sub(m.Created)))
	case view.StateWorking:
		out = append(out, "is being worked on")
	default:
		out = append(out, m.State)
	}
	return out
}
