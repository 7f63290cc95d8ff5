package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

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
turn.ID for a message whose turn has used up its cap. It also works without a
daemon.` +
			examples("claude-swarm budget", "claude-swarm budget --json", "claude-swarm budget raise swarm.day 5"),
		Flags:  []cli.Flag{jsonFlag()},
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
		fmt.Fprintf(c.App.Writer, "no cap is set\n  next: budget: {swarm: {day: 20}} in %s, then claude-swarm reload\n", config.Name)
		return writeRunning(c, st.Agents)
	}
	t := table{width: textWidth(c.App.Writer)}
	t.add("SCOPE", "SPENT", "RESERVED", "CAP", "REST", "")
	for _, row := range report.Scopes {
		for _, cell := range row.Cells() {
			t.add(row.Scope, cell.Spent, cell.Reserved, cell.Cap, cell.Rest, capWord(row, cell))
		}
	}
	t.write(c.App.Writer, nil)
	if report.Billing == "subscription" {
		fmt.Fprintln(c.App.Writer, "\nbilling: subscription: US dollars are shown, but limit nothing")
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
	}
	return "at its cap"
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
		for _, cell := range row.Cells() {
			caps = append(caps, fmt.Sprintf("%s, %s spent", cell.Cap, cell.Spent))
		}
		fmt.Fprintf(c.App.Writer, "%s raised by %s: its cap is now %s\n", row.Scope, amount.Text(), strings.Join(caps, "; "))
		if st, err := client.Status(c.Context); err == nil && st.Halted {
			fmt.Fprintf(c.App.Writer, "  everything is halted (%s), so no turn begins; next: claude-swarm unhalt\n", screen.OneLine(st.Reason))
		}
		return nil
	})
}
