package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func tasksCommand() *cli.Command {
	return &cli.Command{
		Name:      "tasks",
		Category:  groupAgents,
		Usage:     "list what people asked for, and how far it came",
		ArgsUsage: "[ID]",
		Description: `Lists the open tasks, oldest first: the id, how far the task came, since when,
who has it, what it cost so far, who asked, and what it is about; below that,
why it waits and what to type. A task is everything that came of one message
from a person. ID, the id of any of its messages, shows one task with its
messages.

An open task is asking (a person has to answer), working, parked (a budget is
used up) or waiting. A closed one is merged, given up (the message of the person
is a dead letter or was refused), failed (a message that it led to is, nothing
was permitted, or a verifier is red), verified (its verifiers are green) or
unverified (its agents say that it is done). Closed tasks are listed for
log.max_age_days. It also works without a daemon.` +
			examples("claude-swarm tasks", "claude-swarm tasks --closed --agent coder", "claude-swarm tasks k7f3q9m2xd", "claude-swarm tasks --all --json"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "the closed tasks too"},
			&cli.BoolFlag{Name: "closed", Usage: "only the closed tasks"},
			&cli.StringFlag{Name: "agent", Usage: "only the tasks of which `AGENT` has, or had, a message"},
			jsonFlag(),
		},
		Action:      tasks,
		Subcommands: []*cli.Command{tasksAddCommand()},
	}
}

func tasks(c *cli.Context) error {
	if c.NArg() > 1 {
		return usagef("claude-swarm tasks "+view.ShellWord(c.Args().First()), "tasks: name one task by its id, or none for all")
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	q := view.TaskQuery{Open: !c.Bool("closed"), Closed: c.Bool("all") || c.Bool("closed"), Agent: c.String("agent"), Since: p.closedSince(time.Now())}
	if name := q.Agent; name != "" && !p.isGone(name) {
		if _, err := p.agent(name, "claude-swarm tasks --agent %s"); err != nil {
			return err
		}
	}
	st, err := statusOf(c, nil)
	if err != nil {
		return err
	}
	if c.NArg() == 1 {
		return p.showTask(c, st, c.Args().First())
	}
	list, err := view.TasksOf(p.Client, st, q)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, list)
	}
	for i := range list.Tasks {
		list.Tasks[i].By = p.asker(list.Tasks[i])
	}
	writeTasks(c.App.Writer, list, q, time.Now())
	return nil
}

// closedSince returns the time since which closed tasks are listed.
func (p *post) closedSince(now time.Time) time.Time {
	return now.AddDate(0, 0, -cmp.Or(p.file.Log.MaxAgeDays, 30))
}

// asker returns the words for the person who asked for a task.
func (p *post) asker(t view.Task) string {
	if t.Nick != "" {
		return t.Nick + " (" + t.By + ")"
	}
	return p.Called(t.By)
}

var taskColours = map[view.TaskState]color.Attribute{
	view.TaskAsking:  color.FgYellow,
	view.TaskWorking: color.FgGreen,
	view.TaskParked:  color.FgYellow,
	view.TaskGivenUp: color.FgRed,
	view.TaskFailed:  color.FgRed,
}

// writeTasks prints tasks as a table with the total below it.
func writeTasks(w io.Writer, v *view.Tasks, q view.TaskQuery, now time.Time) {
	if len(v.Tasks) == 0 {
		writeNoTasks(w, q)
		return
	}
	pal := paletteOf(w)
	t := taskTable(w, v, now, false)
	if t.width >= narrow && t.crowded(t.widths(), t.width) {
		t = taskTable(w, v, now, true)
	}
	t.write(w, func(row, column int, cell string) string {
		if attr, ok := taskColours[v.Tasks[row].State]; ok && column == 1 {
			return pal.paint(cell, attr)
		}
		return cell
	})
	open := 0
	for _, one := range v.Tasks {
		if one.State.IsOpen() {
			open++
		}
	}
	var total []string
	if open > 0 {
		total = append(total, screen.Count(open, "open task"))
	}
	if closed := len(v.Tasks) - open; closed > 0 {
		total = append(total, screen.Count(closed, "closed task"))
	}
	fmt.Fprintln(w)
	writeSteps(w, strings.Join(total, ", ")+" · "+screen.Cost(v.Cost()), "one of them: claude-swarm tasks ID")
}

func writeNoTasks(w io.Writer, q view.TaskQuery) {
	which := "open task"
	switch {
	case !q.Open:
		which = "closed task"
	case q.Closed:
		which = "task"
	}
	if q.Agent != "" {
		which += " of " + q.Agent
	}
	fmt.Fprintf(w, "no %s\n", which)
	if !q.Closed {
		fmt.Fprintln(w, "  next: claude-swarm tasks --closed")
	}
}

// taskTable returns tasks as a table. If short is set, it omits who asked.
func taskTable(w io.Writer, v *view.Tasks, now time.Time, short bool) *table {
	costs := make([]float64, len(v.Tasks))
	for i, one := range v.Tasks {
		costs[i] = one.CostUSD
	}
	digits := screen.Digits(costs...)
	t := &table{width: screenWidth(w), keep: 4}
	if short {
		t.keep = 0
	}
	for _, one := range v.Tasks {
		cells := []string{one.ID, string(one.State), timeText(one.Since, now), screen.Cut(cmp.Or(one.Agent, "-"), longestAgent), taskCost(one, digits)}
		if !short {
			cells = append(cells, cmp.Or(one.By, "-"))
		}
		t.add(append(cells, screen.OneLine(one.Subject))...)
		for _, text := range whyAndNext(one.Why, one.Next, t.width-len(one.ID)-2) {
			t.last().below = append(t.last().below, tableLine{text: text, whole: true})
		}
	}
	return t
}

func taskCost(t view.Task, digits int) string {
	cost := screen.CostCell(t.CostUSD, t.CostUnknown > 0, digits)
	if t.CostUSD > 0 || t.CostUnknown == 0 {
		cost += " USD"
	}
	return cost
}

// whyAndNext returns the reason and the command to type, in one line if they fit: a command
// that is broken between two lines cannot be copied.
func whyAndNext(why, next string, columns int) (lines []string) {
	for _, text := range []string{screen.OneLine(why), next} {
		if text != "" {
			lines = append(lines, text)
		}
	}
	if line := strings.Join(lines, " · "); line != "" && screen.Columns(line) <= columns {
		return []string{line}
	}
	return lines
}

// showTask prints one task: what is known about it, the messages that are not finished, and the
// tree of all its messages. A task whose messages have been removed has no tree.
func (p *post) showTask(c *cli.Context, st swarm.Status, id string) error {
	found, trace, err := p.traceID(id)
	gone := errors.Is(err, errGoneTask)
	if err != nil && !gone {
		return err
	}
	list, err := view.TasksOf(p.Client, st, view.TaskQuery{Open: true, Closed: true, Trace: trace})
	if err != nil {
		return err
	}
	if gone {
		list.Tasks = slices.DeleteFunc(list.Tasks, func(t view.Task) bool { return !dropbox.MatchID(t.ID, id) })
	}
	switch {
	case gone && len(list.Tasks) != 1:
		return unfound("claude-swarm tasks --all", "message or task", " here", id)
	case len(list.Tasks) == 0:
		return fail(exitUnknown, "claude-swarm trace "+found.Entry.ID, "%s belongs to no task: it does not come from a request of a person", found.Entry.ID)
	}
	one := list.Tasks[0]
	var tr *view.Trace
	if !gone {
		if tr, err = view.TraceOf(p.Client, found); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V     int         `json:"v"`
			Tasks []view.Task `json:"tasks"`
			Trace *view.Trace `json:"trace"`
		}{1, list.Tasks, tr})
	}
	one.By = p.asker(one)
	w, now := c.App.Writer, time.Now()
	writeTask(w, one, now)
	if tr == nil {
		fmt.Fprintln(w, "\nits messages have been removed")
		return nil
	}
	for _, m := range tr.Messages {
		m.From, m.To = p.Called(m.From), p.Called(m.To)
	}
	fmt.Fprintln(w)
	tree{paletteOf(w), found.Entry.ID, p.file.ProjectDir, now, screenWidth(w), false}.write(w, tr)
	return nil
}

// errGoneTask reports that an id may be that of a task whose messages have been removed.
var errGoneTask = errors.New("no such message")

// traceID finds a message by a part of its id, and returns the trace to which it belongs. If
// there is no such message, the error is errGoneTask.
func (p *post) traceID(id string) (dropbox.Found, string, error) {
	found, m, err := p.Message(id)
	if errors.Is(err, dropbox.ErrNotFound) {
		return found, "", errGoneTask
	} else if err != nil {
		return found, "", err
	}
	if err := private(p.MayReadMessage(found, m)); err != nil {
		return found, "", err
	}
	return found, cmp.Or(m.Trace, m.ID), nil
}

// writeTask prints what is known about a task.
func writeTask(w io.Writer, t view.Task, now time.Time) {
	pal, out := paletteOf(w), narrowed(w)
	state := string(t.State)
	if attr, ok := taskColours[t.State]; ok {
		state = pal.paint(state, attr)
	}
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(out, "%s %s\n", pal.paint(fmt.Sprintf("%-8s", name), color.Faint), text)
		}
	}
	line("task", screen.OneLine(t.Subject))
	line("state", state+" since "+timeText(t.Since, now))
	line("asked by", fmt.Sprintf("%s, %s", t.By, timeText(t.Asked, now)))
	line("agents", strings.Join(t.Agents, ", "))
	cost := screen.Count(t.Turns, "turn") + " · " + screen.Cost(t.CostUSD, t.CostUnknown > 0)
	if t.Failed > 0 {
		cost += fmt.Sprintf(" · %d of them not done", t.Failed)
	}
	line("cost", cost)
	line("branch", t.Branch)
	line("proof", t.Verified)
	for _, part := range t.Parts {
		what := fmt.Sprintf("%s %s since %s", part.ID, part.State, timeText(part.Since, now))
		if part.Agent != "" {
			what = part.Agent + "  " + what
		}
		line("message", what+"  "+screen.OneLine(part.Subject))
		for _, text := range whyAndNext(part.Why, part.Next, screenWidth(w)-9) {
			line("", text)
		}
	}
	if !slices.ContainsFunc(t.Parts, func(p view.TaskPart) bool { return p.Next == t.Next }) {
		line("next", t.Next)
	}
}
