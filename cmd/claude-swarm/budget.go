package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func budgetCommand() *cli.Command {
	return &cli.Command{
		Name: "budget", Category: groupAgents,
		Usage: "show the caps and what has been spent",
		Description: `Lists each cap in the configuration (budget:) with what has been spent, what is
reserved for running turns, and what is left: swarm.day for all agents together,
AGENT.day for one agent, task.ID for everything that follows from one message,
turn.ID for a message whose turn has used up its cap. Of the tasks it lists
those that are not finished and those that have spent more than half of their
cap. It also works without a daemon.

The cost of a turn is not known if its client was killed or reports none, so
all that was reserved for it counts as spent; that part is marked as assumed.` +
			examples("claude-swarm budget", "claude-swarm budget --all", "claude-swarm budget --json", "claude-swarm budget raise swarm.day 5"),
		Flags:  []cli.Flag{jsonFlag(), &cli.BoolFlag{Name: "all", Usage: "list finished tasks as well"}},
		Action: budgetList, // without a subcommand, it lists the caps
		Subcommands: []*cli.Command{
			{
				Name: "raise", Usage: "add to a cap", ArgsUsage: "SCOPE AMOUNT",
				Description: `Adds to a cap, for today or for one task or turn. Mail held up by the cap is
handled right away. AMOUNT is in US dollars (5), turns (10turns) or time (2h).
To change a cap permanently, change the configuration and reload. No agent may
raise a cap.` +
					examples("claude-swarm budget raise swarm.day 5", "claude-swarm budget raise coder.day 10turns", "claude-swarm budget raise task.k7f3q9m2xd 2.50"),
				Flags:  []cli.Flag{jsonFlag()},
				Action: budgetRaise,
			},
		},
	}
}

func budgetList(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	st, err := statusNow(c)
	if err != nil {
		return err
	}
	for _, p := range st.Trouble {
		if strings.Contains(p.Why, filepath.Base(journal.Home{}.BudgetFile())) {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n  next: %s\n", p.Why, p.Next)
		}
	}
	report := st.Budget
	if c.Bool("json") {
		if report == nil {
			report = &budget.Report{Scopes: []budget.Row{}}
		}
		return printJSON(c.App.Writer, struct {
			V int `json:"v"`
			*budget.Report
			Running []view.Running `json:"running"`
		}{1, report, view.RunningTurns(st.Agents)})
	}
	if report == nil {
		fmt.Fprintf(narrowed(c.App.Writer), "no cap is set\n  next: budget: {swarm: {day: 20}} in %s, then claude-swarm reload\n", config.Name)
		return writeRunning(c, st.Agents)
	}
	t := table{width: textWidth(c.App.Writer)}
	t.add("SCOPE", "SPENT", "RESERVED", "CAP", "REST", "")
	open, finished, assumed, digits := openTasks(c), 0, false, report.Digits()
	for _, row := range report.Scopes {
		if row.Kind == budget.KindTask && !c.Bool("all") && !row.AboveHalf() && row.Reserved == (budget.Sum{}) && !open[row.Scope] {
			finished++
			continue
		}
		for _, cell := range row.Cells(digits) {
			t.add(row.Scope, cell.Spent, cell.Reserved, cell.Cap, cell.Rest, capWord(row, cell))
			for _, remark := range []string{cell.Left, assumedIn(row, cell)} {
				if remark != "" {
					t.last().below = append(t.last().below, tableLine{text: remark, whole: true})
				}
			}
			assumed = assumed || assumedIn(row, cell) != ""
		}
	}
	t.write(c.App.Writer, nil)
	if finished > 0 {
		fmt.Fprintf(narrowed(c.App.Writer), "\n%s below half of the cap: claude-swarm budget --all\n", screen.Count(finished, "finished task"))
	}
	if assumed {
		fmt.Fprintln(c.App.Writer, "\n"+screen.Whole("assumed: the cost of a turn is not known if its client was killed or reports none, so all that was reserved for it counts as spent", textWidth(c.App.Writer)))
	}
	if report.Billing == "subscription" {
		fmt.Fprintln(narrowed(c.App.Writer), "\nbilling: subscription: US dollars are shown, but limit nothing")
	} else if paid := paidBySubscription(report); paid != "" {
		fmt.Fprintln(c.App.Writer, "\n"+screen.Whole(paid, textWidth(c.App.Writer)))
	}
	return writeRunning(c, st.Agents)
}

// writeRunning prints what the running turns have cost so far, because no cap counts it
// before they have ended.
func writeRunning(c *cli.Context, agents []swarm.AgentStatus) (err error) {
	for _, a := range agents {
		if text := view.ProgressOf(a); text != "" && err == nil {
			_, err = fmt.Fprintln(c.App.Writer, "\n"+screen.Whole(a.Name+"'s running turn: "+text, textWidth(c.App.Writer)))
		}
	}
	return err
}

// paidBySubscription returns a sentence about the amount in US dollars that a
// subscription covered, because the SPENT column does not include it. Of the scopes with
// a cap in US dollars, it reports only the one with the largest such amount. It returns
// "" if that amount is below half a cent.
func paidBySubscription(r *budget.Report) string {
	most := budget.Row{}
	for _, row := range r.Scopes {
		if row.Cap.USD != nil && row.Flat > most.Flat {
			most = row
		}
	}
	if most.Flat < 0.005 {
		return ""
	}
	return fmt.Sprintf("%s: a subscription paid for %s more. A cap in US dollars counts only what is billed.", most.Scope, screen.Cost(most.Flat, false))
}

// capWord returns a remark for a cap that has been reached, or "" for any other cap.
func capWord(row budget.Row, cell budget.Cell) string {
	switch {
	case !cell.Full:
		return ""
	case row.Answer != "":
		return "at its cap (" + string(row.Answer) + ")"
	case cell.Left != "":
		return "held"
	}
	return "at its cap"
}

// assumedIn returns the part of the spent US dollars that was reserved for turns whose real cost
// is unknown, as a remark, or "" if that is less than half a cent.
func assumedIn(row budget.Row, cell budget.Cell) string {
	if cell.Unit != budget.USD || row.Assumed < 0.005 {
		return ""
	}
	return screen.USD(row.Assumed) + " assumed"
}

// openTasks returns the scopes of the tasks of which a message is waiting or being worked on. If
// the mailboxes cannot be read, it returns nil, and budget then knows only the running turns.
func openTasks(c *cli.Context) map[string]bool {
	store, _, err := openFolder(c)
	if err != nil {
		return nil
	}
	defer store.Close()
	names, err := store.Mailboxes()
	if err != nil {
		return nil
	}
	open := map[string]bool{}
	for _, name := range names {
		box, err := store.Mailbox(name)
		if err != nil || name == dropbox.Lead || dropbox.IsBridge(name) {
			continue
		}
		waiting, _ := box.Peek()
		claimed, _ := box.Claimed()
		for _, e := range slices.Concat(waiting, claimed) {
			if m, err := box.Read(e); err == nil {
				open[budget.Scope{Kind: budget.KindTask, Name: cmp.Or(m.Trace, m.ID)}.String()] = true
			}
		}
	}
	return open
}

func budgetRaise(c *cli.Context) error {
	const like = "claude-swarm budget raise swarm.day 5"
	if c.NArg() != 2 {
		return usagef(like, "budget raise: give a scope and an amount")
	}
	name := c.Args().First()
	amount, err := budget.ParseAmount(c.Args().Get(1), config.ParseSpan)
	if _, swapped := budget.ParseAmount(name, config.ParseSpan); err != nil && swapped == nil {
		return usagef("claude-swarm budget raise "+view.ShellWord(c.Args().Get(1))+" "+view.ShellWord(name), "budget raise: the scope comes before the amount")
	} else if err != nil {
		return usagef("an amount is "+budget.AmountExamples, "budget raise: %w", err)
	}
	p, err := locate(c)
	if err != nil {
		return err
	}
	return ask(c, p, func(client *control.Client, by string) error {
		row, err := client.RaiseBudget(c.Context, name, amount, by)
		if unknown, ok := errors.AsType[*budget.UnknownScopeError](err); ok && len(unknown.Near) > 0 {
			return fail(exitUnknown, "claude-swarm budget raise "+unknown.Near[0]+" "+view.ShellWord(c.Args().Get(1)), "%w", unknown)
		} else if ok {
			return fail(exitUnknown, "claude-swarm budget", "%w", unknown)
		} else if err != nil {
			return err
		}
		if c.Bool("json") {
			return printJSON(c.App.Writer, struct {
				V int `json:"v"`
				budget.Row
			}{1, row})
		}
		var caps []string
		for _, cell := range row.Cells(screen.Digits(row.Spent.USD)) {
			caps = append(caps, fmt.Sprintf("%s, %s spent", cell.Cap, cell.Spent))
		}
		fmt.Fprintf(c.App.Writer, "%s raised by %s: its cap is now %s\n", row.Scope, amount.Text(), strings.Join(caps, "; "))
		if st, err := client.Status(c.Context); err == nil && st.Halted {
			fmt.Fprintf(c.App.Writer, "  everything is halted (%s), so no turn begins; next: claude-swarm unhalt\n", screen.OneLine(st.Reason))
		}
		return nil
	})
}
