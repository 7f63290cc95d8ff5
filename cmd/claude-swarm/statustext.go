package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

func headline(st swarm.Status, now time.Time) string {
	name := filepath.Base(st.Project)
	if st.Daemon == nil {
		return name + ": no daemon is running   next: " + view.StartDaemon
	}
	if st.Daemon.Stopping {
		return fmt.Sprintf("%s: daemon pid %d stops when the running turns have ended   next: claude-swarm stop --now", name, st.Daemon.PID)
	}
	return fmt.Sprintf("%s: daemon pid %d for %s, version %s", name, st.Daemon.PID, since(st.Daemon.Since, now), st.Daemon.Version)
}

// haltedWords returns a message saying that the whole swarm is halted, with the reason.
func haltedWords(n view.Need) string {
	text := "HALTED: no new turn begins"
	if n.Why != "" {
		text += " (" + screen.OneLine(n.Why) + ")"
	}
	return text
}

// haltedLines returns the status lines about halted conversations.
func haltedLines(threads []view.Need) []string {
	const most = 3
	var lines []string
	for i, t := range threads {
		if i == most {
			lines = append(lines, fmt.Sprintf("%s more are halted   see: claude-swarm status --json", screen.Count(len(threads)-most, "conversation")))
			break
		}
		lines = append(lines, fmt.Sprintf("the conversation %s is halted: %s   next: %s", t.Thread, screen.OneLine(t.Why), t.Next))
	}
	return lines
}

// forYou describes the mail that is waiting for the person, or returns "" if no mail is
// waiting.
func forYou(st *view.Status) string {
	mail := slices.Concat(st.Needed(view.NeedQuestion), st.Needed(view.NeedUnread))
	words := map[view.NeedKind]string{view.NeedQuestion: "question", view.NeedUnread: "unread message"}
	text := ""
	for i, n := range mail {
		if i > 0 {
			text += ", "
		}
		text += screen.Count(n.Count, words[n.Kind])
		if i == 0 {
			text += " for you"
		}
	}
	if text != "" {
		text += "   next: " + mail[0].Next
	}
	return text
}

func sinceKnown(t *time.Time, now time.Time) string {
	if t == nil {
		return "-"
	}
	return since(*t, now)
}

// waitingText returns the number of waiting messages, with the number of urgent ones in
// parentheses: "3 (1!)".
func waitingText(w mail.Waiting) string {
	if w.Urgent > 0 {
		return fmt.Sprintf("%d (%d!)", w.Total(), w.Urgent)
	}
	return number(w.Total())
}

// drops describes the number of undelivered drops, or returns "" if there are none.
func drops(n int) string {
	switch {
	case n == 0:
		return ""
	case n >= dropbox.MaxDrops:
		return fmt.Sprintf("%d or more drops, not taken in yet", n)
	}
	return screen.Count(n, "drop") + ", not taken in yet"
}

// money returns today's cost in US dollars as text, with the given number of decimals.
func money(c journal.Cost, digits int) string {
	if c.Today == 0 && c.TodayUnknown == 0 {
		return "-"
	}
	return screen.CostCell(c.Today, c.TodayUnknown > 0, digits)
}

// costs returns today's cost and the total cost as one line, or "" if nothing was spent.
func costs(c journal.Cost) string {
	switch {
	case c.Total == 0 && c.TotalUnknown == 0:
		return ""
	case c.Total == 0:
		return screen.Cost(0, true)
	}
	return screen.Cost(c.Today, c.TodayUnknown > 0) + " today, " + screen.Cost(c.Total, c.TotalUnknown > 0) + " in all"
}

// task describes the task that an agent is working on, or the reason why it is not
// working.
func task(a swarm.AgentStatus) string {
	if m := a.Message; m != nil {
		what := m.Subject
		if what == "" {
			what = a.Description
		}
		return screen.OneLine(fmt.Sprintf("%s from %s: %s", m.ID, m.From, what))
	}
	return screen.OneLine(a.Why)
}

// warm describes a client that is waiting for work: how long it has been waiting, its
// memory use, and its share of a CPU core during that time.
func warm(w turn.WarmStatus, now time.Time) string {
	waited := max(now.Sub(w.Since), time.Second)
	return fmt.Sprintf("warm for %s (pid %d, %d MiB, %.0f %% of a core)", since(w.Since, now), w.PID, w.RSSBytes>>20, w.CPUSeconds/waited.Seconds()*100)
}

// narrowDetails returns the details that have columns on a wide screen, as lines for a
// narrow screen.
func narrowDetails(a swarm.AgentStatus) []tableLine {
	var lines []tableLine
	if text := task(a); text != "" {
		lines = append(lines, tableLine{text: text, whole: a.Message == nil})
	}
	var facts []string
	if a.Dead > 0 {
		facts = append(facts, screen.Count(a.Dead, "dead letter"))
	}
	if c := view.CostNow(a); c.Today > 0 || c.TodayUnknown > 0 {
		facts = append(facts, screen.Cost(c.Today, c.TodayUnknown > 0)+" today")
	}
	if len(facts) > 0 {
		lines = append(lines, tableLine{text: strings.Join(facts, ", "), whole: true})
	}
	return lines
}

// details returns the lines below an agent, such as its process and session, its last text, and
// the next step. It omits anything that is unknown. If mixed is set, the agents use different
// kinds of clients, and details includes the agent's client.
func details(a view.Agent, mixed bool, now time.Time) []tableLine {
	var facts []string
	var lines []tableLine
	if a.Message != nil && a.Why != "" {
		lines = append(lines, tableLine{text: screen.OneLine(a.Why), whole: true})
	}
	if len(a.Tags) > 0 {
		lines = append(lines, tableLine{text: client.TagMark + strings.Join(a.Tags, " "+client.TagMark), whole: true})
	}
	if text := drops(a.Drops); text != "" {
		lines = append(lines, tableLine{text: text, whole: true})
	}
	if text := view.ProgressOf(a.AgentStatus); text != "" {
		facts = append(facts, text)
	}
	if a.PID != nil {
		facts = append(facts, fmt.Sprintf("pid %d", *a.PID))
	}
	if w := a.Warm; w != nil {
		facts = append(facts, warm(*w, now))
	}
	if a.Session != "" {
		facts = append(facts, "session "+screen.Cut(a.Session, 9))
	}
	if a.ContextPercent >= 0 {
		facts = append(facts, fmt.Sprintf("context %d %%", a.ContextPercent))
	}
	if mixed && a.Client != "" {
		facts = append(facts, screen.OneLine(a.Client))
	}
	if a.Model != "" {
		facts = append(facts, screen.OneLine(a.Model))
	}
	if len(facts) > 0 {
		lines = append(lines, tableLine{text: strings.Join(facts, ", "), whole: true})
	}
	if a.ContextNext != "" {
		lines = append(lines, tableLine{text: "! the context is nearly full   next: " + a.ContextNext, whole: true, alarm: true})
	}
	if a.Last != nil {
		lines = append(lines, tableLine{text: screen.OneLine(fmt.Sprintf("last %s: %s", screen.Clock(a.Last.At, now), a.Last))})
	}
	if a.Next != "" {
		lines = append(lines, tableLine{text: "next: " + screen.OneLine(a.Next), whole: true})
	}
	return lines
}
