package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/door"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A tracedMessage is one message of a trace, with everything that became of it.
// The tree of them is what trace prints.
type tracedMessage struct {
	ID      string       `json:"id"`
	From    string       `json:"from"`
	To      string       `json:"to"` // the mailbox it lies in
	Type    dropbox.Type `json:"type"`
	Subject string       `json:"subject,omitempty"`
	Thread  string       `json:"thread"`
	ReplyTo string       `json:"reply_to,omitempty"`
	Turn    string       `json:"turn,omitempty"` // the turn it was sent in
	Hops    int          `json:"hops"`
	Created time.Time    `json:"created"`

	State    string          `json:"state"`            // waiting, working, done, read, unread, dead, refused
	Reason   string          `json:"reason,omitempty"` // why it is dead or refused
	Parent   string          `json:"parent,omitempty"` // the message that it came of
	Copy     bool            `json:"copy,omitempty"`   // it only shows another message on IRC, or asks the bridge for something
	Attempts []swarm.Attempt `json:"attempts,omitempty"`
	Receipt  *swarm.Receipt  `json:"receipt,omitempty"`

	offer string // the publication that it offers
	about string // of a copy: the message that it shows
	sub   []*tracedMessage
}

// A traceView is one message with its whole family.
type traceView struct {
	V        int              `json:"v"`
	Trace    string           `json:"trace"`
	Messages []*tracedMessage `json:"messages"` // by time
	Turns    int              `json:"turns"`
	CostUSD  float64          `json:"cost_usd"`
	Began    time.Time        `json:"began"`
	Ended    time.Time        `json:"ended"` // the last thing known

	roots []*tracedMessage
	dir   string // of the project; files in it are shown without it
	all   bool   // copies are shown too
}

// newTrace finds out which message came of which, and adds up. The messages
// may be in any order. A message belongs under the publication that it
// offers, else under the one whose turn sent it, else under the one it answers; what
// belongs to none is a root.
func newTrace(id string, messages []*tracedMessage) *traceView {
	slices.SortStableFunc(messages, func(a, b *tracedMessage) int {
		return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID))
	})
	view := &traceView{V: 1, Trace: id, Messages: messages}
	byID := map[string]*tracedMessage{}
	sentBy := map[string]*tracedMessage{}
	for _, m := range messages {
		byID[m.ID] = m
		if m.Receipt != nil {
			for _, sent := range m.Receipt.Sent {
				sentBy[sent] = m
			}
		}
	}
	for _, m := range messages {
		parent := byID[cmp.Or(m.offer, m.about)]
		if parent == nil {
			parent = sentBy[m.ID]
		}
		if parent == nil {
			parent = byID[door.MessageOf(m.Turn)]
		}
		if parent == nil {
			parent = byID[m.ReplyTo]
		}
		// A forged reply_to could name a later message, and two of them each
		// other: only an older one can be where a message came from.
		if parent != nil && !parent.Created.After(m.Created) && parent != m && !parent.under(m) {
			m.Parent = parent.ID
			parent.sub = append(parent.sub, m)
		} else {
			view.roots = append(view.roots, m)
		}
		view.count(m)
	}
	return view
}

// under tells whether m stands somewhere below above.
func (m *tracedMessage) under(above *tracedMessage) bool {
	for _, s := range above.sub {
		if s == m || m.under(s) {
			return true
		}
	}
	return false
}

func (v *traceView) count(m *tracedMessage) {
	if v.Began.IsZero() || m.Created.Before(v.Began) {
		v.Began = m.Created
	}
	v.seen(m.Created)
	for _, a := range m.Attempts {
		v.Turns++
		v.CostUSD += a.CostUSD
		v.seen(a.End)
	}
}

func (v *traceView) seen(at time.Time) {
	if at.After(v.Ended) {
		v.Ended = at
	}
}

// write prints the tree, so many columns wide. Ids are printed
// whole, so that they can be typed again.
func (v *traceView) write(w io.Writer, asked string, now time.Time, columns int) {
	t := tree{palette: paletteOf(w), asked: asked, dir: v.dir, now: now, columns: columns, all: v.all}
	for _, root := range t.shown(v.roots) {
		root.write(w, t, "", "")
	}
	copies := len(slices.DeleteFunc(slices.Clone(v.Messages), func(m *tracedMessage) bool { return !m.Copy }))
	total := count(len(v.Messages)-copies, "message") + " · " + count(v.Turns, "turn")
	if v.CostUSD > 0 {
		total += " · " + usd(v.CostUSD)
	}
	if took := v.Ended.Sub(v.Began); took > 0 {
		total += " · " + span(took)
	}
	switch {
	case copies > 0 && v.all:
		total += fmt.Sprintf(" · %d for IRC", copies)
	case copies > 0:
		total += fmt.Sprintf(" · %d for IRC are left out: --all", copies)
	}
	fmt.Fprintf(w, "\n%s\n", whole(total, columns))
}

// A tree is how messages are printed.
type tree struct {
	palette
	asked string // the id that was asked for
	dir   string // of the project
	now   time.Time

	columns int
	all     bool // copies too
}

// shown are the messages of a list that are printed: no copies, unless they are asked for.
func (t tree) shown(list []*tracedMessage) []*tracedMessage {
	return slices.DeleteFunc(slices.Clone(list), func(m *tracedMessage) bool { return m.Copy && !t.all && m.ID != t.asked })
}

// write prints a message: first begins its own line, rest everything below it.
func (m *tracedMessage) write(w io.Writer, t tree, first, rest string) {
	id := m.ID
	if id == t.asked {
		id = t.paint(id, color.Bold)
	}
	below := t.shown(m.sub)
	bar := "│ "
	if len(below) == 0 {
		bar = "  "
	}
	room := max(t.columns-columnsOf(rest)-3, leastLast) // of the lines below the first
	when, way := moment(m.Created, t.now), fmt.Sprintf("%s → %s  %s", m.From, m.To, m.Type)
	used := columnsOf(first) + 12 + columnsOf(when) + 2 + columnsOf(way)
	if used <= t.columns && (t.columns >= narrow || m.Subject == "") {
		fmt.Fprintf(w, "%s%s  %s  %s%s\n", first, id, when, way, t.paint(m.tail(t.columns-used), color.Faint))
	} else {
		fmt.Fprintf(w, "%s%s  %s\n%s%s %s\n", first, id, when, rest, bar, cut(way, room))
		if m.Subject != "" {
			fmt.Fprintf(w, "%s%s %s\n", rest, bar, t.paint(cut(oneLine(m.Subject), room), color.Faint))
		}
	}
	for _, n := range m.notes(t) {
		lines := []string{cut(oneLine(n), room)}
		if t.columns < narrow { // too much would be missing
			lines = strings.Split(whole(oneLine(n), room), "\n")
		}
		for _, text := range lines {
			fmt.Fprintf(w, "%s%s %s\n", rest, bar, text)
		}
	}
	for i, s := range below {
		if i == len(below)-1 {
			s.write(w, t, rest+"└─ ", rest+"   ")
		} else {
			s.write(w, t, rest+"├─ ", rest+"│  ")
		}
	}
}

// tail is the subject, as far as a line with so much room has some for it.
func (m *tracedMessage) tail(room int) string {
	room -= 2
	if m.Subject == "" || room < 8 {
		return ""
	}
	return "  " + cut(oneLine(m.Subject), room)
}

// notes are the lines below a message: its turns, and where it is now.
func (m *tracedMessage) notes(t tree) []string {
	var out []string
	if m.Copy {
		out = append(out, "for IRC")
	}
	for i, a := range m.Attempts {
		line := fmt.Sprintf("turn %d %s", i+1, a.Outcome)
		if a.Outcome != "done" && a.Reason != "" {
			line += ": " + a.Reason
		}
		if !a.End.IsZero() {
			line += " · " + span(a.End.Sub(a.Start))
		}
		if a.CostUSD > 0 {
			line += " · " + usd(a.CostUSD)
		}
		if r := m.Receipt; r != nil && i == len(m.Attempts)-1 {
			if r.ToolCalls > 0 {
				line += " · " + count(r.ToolCalls, "tool call")
			}
			if r.Compactions > 0 {
				line += " · " + count(r.Compactions, "compaction")
			}
		}
		out = append(out, line)
	}
	if r := m.Receipt; r != nil {
		if r.Into != "" {
			out = append(out, "done in the turn of "+r.Into)
		}
		if len(r.Files) > 0 {
			out = append(out, "wrote "+strings.ReplaceAll(strings.Join(r.Files, ", "), t.dir+"/", ""))
		}
		if len(r.Denied) > 0 {
			out = append(out, "denied "+strings.Join(r.Denied, "; "))
		}
		if r.Outcome != "done" {
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
		out = append(out, "refused: "+cmp.Or(m.Reason, "no reason is kept"))
	case view.StateDead:
		out = append(out, "dead: "+cmp.Or(m.Reason, "no reason is kept"))
	case view.StateWaiting:
		out = append(out, "waits since "+span(t.now.Sub(m.Created)))
	case view.StateWorking:
		out = append(out, "is being worked on")
	default:
		out = append(out, m.State)
	}
	return out
}

// moment is the time of day to the second, local; with the day when that is not
// today.
func moment(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format("2006-01-02 15:04")
}
