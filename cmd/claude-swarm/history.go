package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func historyCommand() *cli.Command {
	return &cli.Command{
		Name:      "history",
		Category:  groupAgents,
		Usage:     "list what an agent did",
		ArgsUsage: "[AGENT]",
		Description: `Lists the turns of an agent, or of all, oldest first: when they ended, how, how
long they took, what they cost, who asked, and what they were about; below that,
why a turn failed. A row that is too long for the screen leaves out how long the
turn took and who asked; --long shows everything, on several lines. AGENT can
also be supervisor, which shows what the judging model did and what it cost.` +
			examples("claude-swarm history coder --since 24h", "claude-swarm history --long",
				"claude-swarm history coder -n 5 --json"),
		Flags: []cli.Flag{
			spanFlag("since", "only what ended within `TIME`, such as 24h or 7d"),
			&cli.IntFlag{Name: "n", Usage: "only the last `N`"},
			&cli.BoolFlag{Name: "long", Usage: "show everything, on several lines"},
			jsonFlag(),
		},
		Action: history,
	}
}

func history(c *cli.Context) error {
	if c.NArg() > 1 {
		return usagef("claude-swarm history", "history: name one agent, or none for all")
	}
	var since time.Time
	if d := spanOf(c, "since"); d > 0 {
		since = time.Now().Add(-d)
	}
	if c.IsSet("n") && c.Int("n") < 1 {
		return usagef(strings.Join(append([]string{"claude-swarm history"}, append(c.Args().Slice(), "-n 5")...), " "), "-n: want 1 or more")
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	name := c.Args().First()
	if name != "" && name != swarm.JudgeName && !p.isGone(name) {
		if _, err := p.agent(name, "claude-swarm history %s"); err != nil {
			return err
		}
	}
	past, err := view.HistoryOf(p.Client, name, since, c.Int("n"))
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, past)
	}
	for i := range past.Turns {
		past.Turns[i].From = p.Called(past.Turns[i].From)
	}
	writeHistory(c.App.Writer, past, c.Bool("long"), time.Now())
	return nil
}

// writeHistory prints a history as a table with the totals below it.
func writeHistory(w io.Writer, v *view.History, long bool, now time.Time) {
	if len(v.Turns) == 0 {
		if v.Agent == "" {
			fmt.Fprintln(w, "no agent has done anything yet")
		} else {
			fmt.Fprintf(w, "%s has done nothing yet\n", v.Agent)
		}
		return
	}
	pal := paletteOf(w)
	t, outcome := historyTable(w, v, now, long, false)
	if !long && t.width >= narrow && t.crowded(t.widths(), t.width) {
		t, outcome = historyTable(w, v, now, false, true)
	}
	t.write(w, func(row, column int, cell string) string {
		if column == outcome && v.Turns[row].Outcome != view.OutcomeDone {
			return pal.paint(cell, color.FgRed)
		}
		return cell
	})
	total := screen.Count(len(v.Turns), "turn")
	if v.Failed > 0 {
		total += fmt.Sprintf(", %d of them not done", v.Failed)
	}
	fmt.Fprintf(narrowed(w), "\n%s · %s\n", total, screen.Cost(v.CostUSD, v.CostUnknown > 0))
}

// longestAgent is the maximum number of columns for an agent's name in a short row.
const longestAgent = 12

// historyTable returns a history as a table. The second result is the index of the column
// that shows the turns' outcomes. If long is set, the table contains the whole subject of
// each turn. If short is set, the table omits the least important columns.
func historyTable(w io.Writer, v *view.History, now time.Time, long, short bool) (t *table, outcome int) {
	costs := make([]float64, len(v.Turns))
	for i, turn := range v.Turns {
		costs[i] = turn.CostUSD
	}
	digits, outcome := screen.Digits(costs...), 2
	t = &table{width: screenWidth(w), keep: 4, spill: long}
	if v.Agent == "" { // in a history of all agents, the table also has a column for the agent
		t.keep, outcome = 5, 3
	}
	if short {
		t.keep = 0
	}
	for _, turn := range v.Turns {
		about := turn.Subject
		if turn.Receipt != nil && len(turn.Receipt.Files) > 0 {
			about += " (" + screen.Count(len(turn.Receipt.Files), "file") + ")"
		}
		cells := []string{timeText(turn.At, now)}
		switch {
		case v.Agent != "":
		case short:
			cells = append(cells, screen.Cut(turn.Agent, longestAgent))
		default:
			cells = append(cells, turn.Agent)
		}
		cells = append(cells, turn.Message, turn.Outcome)
		if !short {
			cells = append(cells, screen.Took(time.Duration(turn.Seconds*float64(time.Second))))
		}
		cost := screen.CostCell(turn.CostUSD, turn.CostUnknown, digits)
		if turn.CostUSD > 0 || !turn.CostUnknown {
			cost += " USD"
		}
		cells = append(cells, cost)
		if !short {
			cells = append(cells, cmp.Or(turn.From, "-"))
		}
		t.add(append(cells, screen.OneLine(about))...)
		t.last().whole = long
		if turn.Reason != "" && turn.Outcome != view.OutcomeDone {
			t.last().below = append(t.last().below, tableLine{text: screen.OneLine(turn.Reason), whole: true})
		}
	}
	return t, outcome
}
