package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func statusCommand() *cli.Command {
	return &cli.Command{
		Name: "status", Category: groupAgents, ArgsUsage: "[AGENT…]",
		Usage: "what the agents do, what waits, what needs you",
		Description: `Shows each agent with its state, since when and why, its waiting mail, its dead
letters, what it cost today, its task and what to do next. Works without a
daemon too, from the files.

4 (1!) in MAIL is 4 messages, 1 of them urgent; - is none. A line that begins
with ! is a trouble of the daemon itself.` +
			examples("claude-swarm status", "claude-swarm status --short", "claude-swarm status coder --json", "claude-swarm status --watch"),
		Flags: []cli.Flag{
			jsonFlag(),
			&cli.BoolFlag{Name: "short", Usage: "one line for each agent"},
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "draw it again whenever something changes, until Ctrl-C"},
		},
		Action: func(c *cli.Context) error {
			if c.Bool("watch") {
				return watchStatus(c)
			}
			st, err := statusNow(c)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return printJSON(c.App.Writer, view.StatusOf(st))
			}
			_, err = io.WriteString(c.App.Writer, draw(st, lookOf(c, time.Now())).String())
			return err
		},
	}
}

// statusNow asks the daemon, or reads the files where none answers.
func statusNow(c *cli.Context) (st swarm.Status, err error) {
	p, err := locate(c)
	if err != nil {
		return st, err
	}
	err = ask(c, p, func(client *control.Client, _ string) (err error) {
		st, err = view.Ask(c.Context, client, c.Args().Slice(), func() ([]string, error) {
			p, err := loadProject(c)
			if err != nil {
				return nil, err
			}
			return p.file.Names(), nil
		})
		return err
	})
	// One that ended while it was asked is not a daemon either.
	if !errors.Is(err, control.ErrNoDaemon) && !errors.Is(err, control.ErrGone) {
		if _, moved := rendezvous.Elsewhere(p.dir, os.Getenv); err == nil && moved {
			st.Trouble = append(st.Trouble, "the project was moved from "+st.Project+" under its daemon, which can do nothing there: claude-swarm restart")
		}
		return st, err
	}
	silent := ""
	if lockHeld(p.home) {
		silent = err.Error()
	}
	st, err = offline(c)
	if silent != "" {
		st.Trouble = append(st.Trouble, silent)
	}
	return st, err
}

// offline is the status as far as the files tell.
func offline(c *cli.Context) (st swarm.Status, err error) {
	p, err := loadProject(c)
	if err != nil {
		return st, err
	}
	names, err := p.agents(c.Args().Slice(), "claude-swarm status %s")
	if err != nil {
		return st, err
	}
	store, err := dropbox.Open(p.file.DeadDropDir, p.storeOptions())
	if errors.Is(err, dropbox.ErrNoStore) {
		return st, fail(exitUnknown, "claude-swarm start", "no mailboxes at %s yet", p.file.DeadDropDir)
	} else if err != nil {
		return st, err
	}
	defer store.Close()
	st, err = swarm.Offline(p.home, store, planOf(p.file), p.dir, time.Now())
	st.Agents = slices.DeleteFunc(st.Agents, func(a swarm.AgentStatus) bool { return !slices.Contains(names, a.Name) })
	if err == nil {
		st.IRC, err = view.IRCOf(p.file, p.home)
	}
	return st, err
}

// stateColours say at a glance who needs somebody.
var stateColours = map[swarm.State]color.Attribute{
	swarm.Working: color.FgGreen,
	swarm.Asking:  color.FgYellow,
	swarm.Backoff: color.FgYellow,
	swarm.Limited: color.FgYellow,
	swarm.Paused:  color.FgYellow,
	swarm.Stopped: color.FgRed,
}

// writeHead prints what concerns all agents.
func (l look) writeHead(w io.Writer, st *view.Status) {
	p, now, columns := l.paint, l.now, l.columns
	fmt.Fprintln(w, screen.Whole(headline(st.Status, now), columns))
	for _, n := range st.Needed(view.NeedHalted) {
		halted := haltedWords(n)
		line := screen.Whole(halted+"   next: "+n.Next, columns)
		fmt.Fprintln(w, strings.Replace(line, halted, p.paint(halted, color.FgRed, color.Bold), 1))
	}
	for _, n := range st.Needed(view.NeedTrouble) {
		fmt.Fprintln(w, p.paint("! "+strings.ReplaceAll(screen.Whole(screen.OneLine(n.Why), max(columns-2, 0)), "\n", "\n  "), color.FgYellow))
	}
	for _, line := range l.limits(st) {
		fmt.Fprintln(w, p.paint(screen.Whole(line, columns), color.FgYellow))
	}
}

// writeAgents prints the table.
func (l look) writeAgents(w io.Writer, st *view.Status) {
	p, now, columns := l.paint, l.now, l.columns
	t := table{width: columns, spill: !l.short}
	small := columns > 0 && columns < narrow
	longest := 20 // of a name
	if small {
		longest = min(max(columns-30, 10), longest)
		t.add("AGENT", "STATE", "FOR", "MAIL")
	} else {
		t.add("AGENT", "STATE", "FOR", "MAIL", "DEAD", "USD", "TASK")
	}
	for _, a := range st.List() {
		cells := []string{screen.Cut(a.Name, longest), string(a.State), sinceKnown(a.Since, now), mail(a.Waiting)}
		if small {
			t.add(cells...)
			t.last().below = narrowDetails(a.AgentStatus)
		} else {
			t.add(append(cells, number(a.Dead), money(a.CostUSD.Today), task(a.AgentStatus))...)
		}
		t.last().whole = a.Message == nil
		t.last().below = append(t.last().below, details(a, now)...)
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

// writeTail prints what a person is to look at. Each part has an empty line before it.
func (l look) writeTail(w io.Writer, st *view.Status) {
	p, now, columns := l.paint, l.now, l.columns
	if cost := st.Cost(); cost.Total > 0 {
		fmt.Fprintln(w, "\n"+screen.Whole(screen.USD(cost.Today)+" today, "+screen.USD(cost.Total)+" in all", columns))
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

// forYou says what mail waits for the person; "" is none.
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

// haltedWords say that everything is halted, and why.
func haltedWords(n view.Need) string {
	text := "HALTED: no turn is begun"
	if n.Why != "" {
		text += " (" + screen.OneLine(n.Why) + ")"
	}
	return text
}

func headline(st swarm.Status, now time.Time) string {
	name := filepath.Base(st.Project)
	if st.Daemon == nil {
		return name + ": no daemon runs   next: " + view.StartDaemon
	}
	if st.Daemon.Stopping {
		return fmt.Sprintf("%s: daemon pid %d stops when the running turns have ended   next: claude-swarm stop --now", name, st.Daemon.PID)
	}
	return fmt.Sprintf("%s: daemon pid %d for %s, version %s", name, st.Daemon.PID, since(st.Daemon.Since, now), st.Daemon.Version)
}

func sinceKnown(t *time.Time, now time.Time) string {
	if t == nil {
		return "-"
	}
	return since(*t, now)
}

func since(t, now time.Time) string {
	d := now.Sub(t)
	if d < time.Second {
		return "0 s" // milliseconds only make the table restless
	}
	return screen.Span(d)
}

// mail counts what waits; what is urgent stands out: "3 (1!)".
func mail(w swarm.Waiting) string {
	if w.Urgent > 0 {
		return fmt.Sprintf("%d (%d!)", w.Total(), w.Urgent)
	}
	return number(w.Total())
}

// drops says how many files were left in a mailbox by hand and wait to be taken in.
func drops(n int) string {
	switch {
	case n == 0:
		return ""
	case n >= dropbox.MaxDrops:
		return fmt.Sprintf("%d drops or more, not taken in yet", n)
	}
	return screen.Count(n, "drop") + ", not taken in yet"
}

// money is what was spent today, in US dollars.
func money(amount float64) string {
	if amount == 0 {
		return "-"
	}
	return strings.TrimSuffix(screen.USD(amount), " USD")
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// task is what an agent works on, or why it does not.
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

// warm tells of a client that waits: since when, its memory, and the share of a core
// that it uses meanwhile.
func warm(w swarm.WarmStatus, now time.Time) string {
	waited := max(now.Sub(w.Since), time.Second)
	return fmt.Sprintf("warm for %s (pid %d, %d MiB, %.0f %% of a core)", since(w.Since, now), w.PID, w.RSSBytes>>20, w.CPUSeconds/waited.Seconds()*100)
}

// narrowDetails are what stands in columns of its own where there is room for them.
func narrowDetails(a swarm.AgentStatus) []tableLine {
	var lines []tableLine
	if text := task(a); text != "" {
		lines = append(lines, tableLine{text, a.Message == nil})
	}
	var facts []string
	if a.Dead > 0 {
		facts = append(facts, screen.Count(a.Dead, "dead letter"))
	}
	if a.CostUSD.Today > 0 {
		facts = append(facts, screen.USD(a.CostUSD.Today)+" today")
	}
	if len(facts) > 0 {
		lines = append(lines, tableLine{strings.Join(facts, ", "), true})
	}
	return lines
}

// details are the lines below an agent: its process and session, its last word,
// and what comes next. What is not known is left out.
func details(a view.Agent, now time.Time) []tableLine {
	var facts []string
	var lines []tableLine
	if a.Message != nil && a.Why != "" {
		lines = append(lines, tableLine{screen.OneLine(a.Why), true})
	}
	if text := drops(a.Drops); text != "" {
		lines = append(lines, tableLine{text, true})
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
	if a.Model != "" {
		facts = append(facts, screen.OneLine(a.Model))
	}
	if len(facts) > 0 {
		lines = append(lines, tableLine{strings.Join(facts, ", "), true})
	}
	if a.Last != nil {
		lines = append(lines, tableLine{text: screen.OneLine(fmt.Sprintf("last %s: %s", screen.Clock(a.Last.At, now), a.Last.Text))})
	}
	if a.Next != "" {
		lines = append(lines, tableLine{"next: " + screen.OneLine(a.Next), true})
	}
	return lines
}
