package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

func pauseCommand() *cli.Command {
	return &cli.Command{
		Name: "pause", Category: groupAgents, ArgsUsage: "AGENT…",
		Usage: "keep agents from beginning turns",
		Description: `A running turn continues to its end; mail waits. A pause survives a restart of
the daemon, and ends with resume or after --for. AGENT is one name, several, or
all.` +
			examples("claude-swarm pause coder", "claude-swarm pause all", `claude-swarm pause coder --for 1h --why "release day"`),
		Flags: []cli.Flag{
			spanFlag("for", "end the pause after `TIME`, such as 30m or 1d"),
			&cli.StringFlag{Name: "why", Usage: "a `TEXT` that the status shows"},
		},
		Action: func(c *cli.Context) error {
			order := swarm.PauseOrder{Why: c.String("why"), For: spanOf(c, "for")}
			until := ""
			if order.For > 0 {
				until = " until " + screen.Clock(time.Now().Add(order.For), time.Now())
			}
			return eachAgent(c, nil, func(client *control.Client, by, agent string) (string, error) {
				order := order
				order.By = by
				if err := client.Pause(c.Context, agent, order); err != nil {
					return "", err
				}
				text := agent + " paused" + until + "\n"
				// If the agent is also stopped, the person must know that start alone
				// will not end the pause.
				if st, err := client.Status(c.Context, agent); err == nil && len(st.Agents) == 1 && st.Agents[0].State == swarm.Stopped {
					text += fmt.Sprintf("  it is stopped as well; to let it work: claude-swarm start %s and claude-swarm resume %s\n", agent, agent)
				}
				return text, nil
			})
		},
	}
}

func resumeCommand() *cli.Command {
	return &cli.Command{
		Name: "resume", Category: groupAgents, ArgsUsage: "AGENT…",
		Usage: "end a pause, or a wait after a failure",
		Description: `The agent works on its mail again after a pause. If it waits after a failed turn
or at a usage limit, it continues immediately. Outside its hours it works until
they begin. To start a stopped agent, use start. AGENT is one name, several, or
all; all ends pauses and nothing else.` +
			examples("claude-swarm resume coder", "claude-swarm resume all"),
		Action: func(c *cli.Context) error {
			all := slices.Contains(namesIn(c), dropbox.All)
			return eachAgent(c, nil, func(client *control.Client, by, agent string) (string, error) {
				resume := client.Resume
				if all {
					resume = client.LiftPause
				}
				err := resume(c.Context, agent, by)
				if errors.Is(err, swarm.ErrNotPaused) {
					return agent + " was not paused\n", nil
				}
				return agent + " resumed" + overtimeText(c.Context, client, agent, err) + "\n", err
			})
		},
	}
}

// overtimeText says how long a resumed agent will work outside its hours, or returns ""
// if the agent is working within its hours.
func overtimeText(ctx context.Context, client *control.Client, agent string, resumed error) string {
	if resumed != nil {
		return ""
	}
	st, err := client.Status(ctx, agent)
	if err != nil || len(st.Agents) != 1 || st.Agents[0].Overtime == nil {
		return ""
	}
	return "; it is working outside its hours, which begin at " + screen.Ahead(*st.Agents[0].Overtime, time.Now())
}

func abortCommand() *cli.Command {
	return &cli.Command{
		Name: "abort", Category: groupAgents, ArgsUsage: "AGENT…",
		Usage: "end an agent's running turn",
		Description: `Ends the turn and everything that it started, and gives its message up: it goes
to the dead letters, its sender is told, and the agent continues with its next
message. A turn that succeeds before it is ended counts as done. To end a turn
and do its message later, stop the agent instead, or send something more urgent
with --interrupt. AGENT is one, several, or all that are running a turn.` +
			examples("claude-swarm abort coder", "claude-swarm abort all"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: abort,
	}
}

// An abortedView is the JSON form of a turn that abort has ended.
type abortedView struct {
	Agent string `json:"agent"`
	swarm.Cut
}

func abort(c *cli.Context) error {
	var mu sync.Mutex // the turns of several agents can end at the same time
	var ended []abortedView
	err := eachAgent(c, inTurnOnly, func(client *control.Client, by, agent string) (string, error) {
		cut, err := client.Abort(c.Context, agent, by, "")
		if errors.Is(err, swarm.ErrNoTurn) {
			return "", fail(exitFailed, "claude-swarm status "+agent, "%s is not running a turn", agent)
		} else if err != nil {
			return "", err
		}
		mu.Lock()
		ended = append(ended, abortedView{agent, cut})
		mu.Unlock()
		next := "claude-swarm trace " + cut.Message
		if cut.Message == "" {
			next = "claude-swarm logs " + agent
		} else if cut.State == dropbox.Dead {
			next = "claude-swarm dead list " + agent
		} else if cut.State == dropbox.Claimed {
			next = "claude-swarm status " + agent
		}
		return fmt.Sprintf("%s: %s\n  next: %s\n", agent, cutText(cut), next), nil
	})
	switch {
	case !c.Bool("json") || len(ended) == 0:
		return err
	case c.NArg() == 1 && len(ended) == 1 && c.Args().First() == ended[0].Agent:
		return errors.Join(err, printJSON(c.App.Writer, struct {
			V int `json:"v"`
			abortedView
		}{1, ended[0]}))
	}
	slices.SortFunc(ended, func(a, b abortedView) int { return strings.Compare(a.Agent, b.Agent) })
	return errors.Join(err, printJSON(c.App.Writer, struct {
		V       int           `json:"v"`
		Aborted []abortedView `json:"aborted"`
	}{1, ended}))
}

// inTurnOnly returns an error for an agent that is not running a turn. `abort all` skips
// such agents.
func inTurnOnly(a swarm.AgentStatus) error {
	if a.Message == nil {
		return fail(exitFailed, "claude-swarm status", "%s", noTurn)
	}
	return nil
}

func reloadCommand() *cli.Command {
	return &cli.Command{
		Name: "reload", Category: groupDaemon,
		Usage: "make the daemon read its configuration again",
		Description: `The daemon applies new, removed and changed settings; a running turn keeps the
old ones to its end. If the file has a mistake, nothing changes, and the status
says so. The signal SIGHUP does the same, but no right grows by it, because a
signal does not say who sent it.

It prints each right and each limit of an agent that grows, and you get the same
lines as mail. While turns are running, nothing grows without --accept, because
an agent may have edited the file.` +
			examples("claude-swarm reload", "claude-swarm reload --accept"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "accept", Usage: "let rights grow while turns are running"}},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			p, err := locate(c)
			if err != nil {
				return err
			}
			return ask(c, p, func(client *control.Client, by string) error {
				changes, err := client.Reload(c.Context, by, c.Bool("accept"))
				if err != nil {
					return err
				}
				fmt.Fprintln(c.App.Writer, changesText(changes))
				printGrown(c.App.Writer, changes.Grown)
				return sayGone(c)
			})
		},
	}
}

// sayGone prints a warning for each agent that is no longer in the configuration but
// still has waiting mail.
func sayGone(c *cli.Context) error {
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	gone, err := swarm.Gone(p.home, p.Store, p.file.Names())
	for _, g := range gone {
		wrong := g.Problem()
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n  try: %s\n", wrong.Why, wrong.Next)
	}
	return err
}

// printGrown prints the rights that grew.
func printGrown(to io.Writer, grown []string) {
	if len(grown) == 0 {
		return
	}
	fmt.Fprintln(to, "rights grew:")
	for _, line := range grown {
		fmt.Fprintln(to, "  "+screen.Visible(line))
	}
}

func changesText(ch swarm.Changes) string {
	var parts []string
	for _, part := range []struct {
		what  string
		names []string
	}{{"added", ch.Added}, {"removed", ch.Removed}, {"changed", ch.Changed}, {"new settings in", ch.Keys}} {
		if len(part.names) > 0 {
			parts = append(parts, part.what+" "+strings.Join(part.names, ", "))
		}
	}
	if len(parts) == 0 {
		return "reloaded: nothing changed"
	}
	return "reloaded: " + strings.Join(parts, "; ")
}
