package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func drainCommand() *cli.Command {
	return &cli.Command{
		Name: "drain", Category: groupAgents, ArgsUsage: "[AGENT…]",
		Usage: "let agents finish their tasks and begin no new ones",
		Description: `The agents finish the tasks that have begun: running turns, and all mail of
tasks on which a turn has run, for example the answers of other agents. They
begin no other task; its mail is accepted and waits, also if it is urgent. The
status shows how many tasks are open, and then that the agent is drained. A
drain survives a restart of the daemon, and ends with undrain. Without AGENT, it
applies to all agents.

With --wait, drain waits until no task is open, for example before an upgrade,
and shows what it waits for.` +
			examples("claude-swarm drain", "claude-swarm drain coder", "claude-swarm drain --wait && claude-swarm stop"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "wait", Usage: "wait until the agents are drained"},
			spanFlag("timeout", "with --wait, wait no longer than `TIME`, such as 5m (exit status 5)"),
			jsonFlag(),
		},
		Action: drain,
	}
}

func undrainCommand() *cli.Command {
	return &cli.Command{
		Name: "undrain", Category: groupAgents, ArgsUsage: "[AGENT…]",
		Usage: "let agents begin tasks again after drain",
		Description: `The agents work on all their mail again. Without AGENT, it applies to all
agents.` +
			examples("claude-swarm undrain", "claude-swarm undrain coder"),
		Action: func(c *cli.Context) error {
			return eachDraining(c, func(client *control.Client, by string, names []string) error {
				for _, name := range names {
					err := client.Undrain(c.Context, name, by)
					text := name + " begins tasks again"
					if errors.Is(err, swarm.ErrNotDraining) {
						text, err = name+" was not draining", nil
					}
					if err != nil {
						return err
					}
					fmt.Fprintln(c.App.Writer, text)
				}
				return nil
			})
		},
	}
}

// eachDraining calls do with the agents that are named on the command line, or with all agents
// if none is named.
func eachDraining(c *cli.Context, do func(client *control.Client, by string, names []string) error) error {
	names := namesIn(c)
	switch {
	case c.NArg() == 0:
		names = []string{dropbox.All}
	case len(names) == 0:
		return usagef("claude-swarm status", "%s: which agent?", c.Command.Name)
	}
	p, err := locate(c)
	if err != nil {
		return err
	}
	return ask(c, p, func(client *control.Client, by string) error {
		names, err := agentsOf(c.Context, client, names, nil)
		if err != nil {
			return err
		}
		return do(client, by, names)
	})
}

func drain(c *cli.Context) error {
	if c.IsSet("timeout") && !c.Bool("wait") {
		return usagef(commandTyped(c)+" --wait", "drain: --timeout needs --wait")
	}
	return eachDraining(c, func(client *control.Client, by string, names []string) error {
		for _, name := range names {
			if err := client.Drain(c.Context, name, by); err != nil {
				return err
			}
		}
		if c.Bool("wait") {
			if err := untilDrained(c, client, names); err != nil {
				return err
			}
		}
		st, err := client.Status(c.Context, names...)
		if err != nil {
			return err
		}
		return printDrains(c, st.Agents)
	})
}

// A drainView is the JSON form of an agent's drain.
type drainView struct {
	Agent   string `json:"agent"`
	Drained bool   `json:"drained"` // no task is open
	swarm.DrainStatus
}

// printDrains prints how far the drain of each agent is.
func printDrains(c *cli.Context, agents []swarm.AgentStatus) error {
	views := []drainView{}
	for _, a := range agents {
		if a.Drain == nil {
			return fail(exitFailed, "claude-swarm drain "+a.Name, "the drain of %s has been ended in the meantime", a.Name)
		}
		views = append(views, drainView{a.Name, len(a.Drain.Tasks) == 0, *a.Drain})
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V      int         `json:"v"`
			Agents []drainView `json:"agents"`
		}{1, views})
	}
	for _, v := range views {
		fmt.Fprintf(c.App.Writer, "%s: %s\n", v.Agent, v.Text())
	}
	if c.Bool("wait") {
		return nil
	}
	_, err := fmt.Fprintln(c.App.Writer, "  next: "+strings.TrimSpace("claude-swarm undrain "+strings.Join(c.Args().Slice(), " ")))
	return err
}

// drainPoll is how often a waiting drain asks for the status.
const drainPoll = 250 * time.Millisecond

// untilDrained waits until no task of the agents is open. Whenever that changes, it shows what
// it waits for.
func untilDrained(c *cli.Context, client *control.Client, names []string) error {
	ctx, cancel := patience(c)
	defer cancel()
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	said := ""
	for {
		st, err := client.Status(ctx, names...)
		if err == nil {
			waits := stillOpen(st.Agents)
			if waits == "" {
				return nil
			}
			if waits != said {
				fmt.Fprintf(c.App.ErrWriter, "claude-swarm: waiting for %s\n", waits)
				said = waits
			}
			select {
			case <-tick.C:
				continue
			case <-ctx.Done():
			}
		}
		back := strings.TrimSpace("claude-swarm undrain " + strings.Join(c.Args().Slice(), " "))
		switch {
		case c.Context.Err() != nil:
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: stopped waiting; the agents still begin no new task\n  try: %s\n", back)
			return c.Context.Err()
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			return fail(exitTimeout, back, "not drained after %v: %s", spanOf(c, "timeout"), said)
		}
		return err
	}
}

// stillOpen lists the open tasks of draining agents, with the reason of an agent that does not
// work on them, such as "coder (1 task; is paused: by lead)". It returns "" if all are drained,
// or if the drain of one has been ended.
func stillOpen(agents []swarm.AgentStatus) string {
	var list []string
	for _, a := range agents {
		if a.Drain == nil {
			return ""
		}
		if n := len(a.Drain.Tasks); n > 0 {
			text := fmt.Sprintf("%s (%s", a.Name, screen.Count(n, "open task"))
			if why, _, _ := strings.Cut(a.Why, "; draining: "); a.State.Resting() && !strings.HasPrefix(why, "draining: ") {
				text += "; it is " + string(a.State) + ": " + screen.OneLine(why)
			}
			list = append(list, text+")")
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
