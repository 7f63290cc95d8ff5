package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// logPoll is the interval at which a followed file is read even if no event arrives from
// the daemon. A running daemon sends an event for each new line.
const logPoll = 250 * time.Millisecond

func logsCommand() *cli.Command {
	return &cli.Command{
		Name: "logs", Category: groupAgents, ArgsUsage: "[AGENT]",
		Usage: "what an agent says and does",
		Description: `Prints the last lines of an agent's log, or of all logs in chronological order.
With -f, it continues with new lines, even when the daemon stops and starts
again. It works without a daemon. Inside a turn an agent sees its own log.

On a terminal, -f with one AGENT shows text while the agent writes it. A turn
that was already running shows only whole messages, since its client
cannot change that; if every client sent text in pieces, the kept streams would
be nine times as long.

Lines are TIME AGENT MESSAGE TEXT. $ marks a tool call, + urgent mail received
mid-turn, and = the beginning and the end of a turn, with its duration and
cost. --raw prints the client's own event stream of the last turn, as JSON
lines.` +
			examples("claude-swarm logs coder", "claude-swarm logs coder -f", "claude-swarm logs -f", "claude-swarm logs coder --raw -n 5"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "f", Aliases: []string{"follow"}, Usage: "keep printing new lines, until Ctrl-C"},
			&cli.IntFlag{Name: "n", Aliases: []string{"lines"}, Value: 50, Usage: "begin with the last `N` lines"},
			&cli.BoolFlag{Name: "raw", Usage: "the client's event stream"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("claude-swarm logs "+c.Args().First(), "logs: name one agent, or none for all")
			}
			if c.Int("n") < 0 {
				return usagef("claude-swarm help logs", "-n must not be negative")
			}
			p, err := loadInForce(c)
			if err != nil {
				return err
			}
			me, err := p.whoAmI(c.Context)
			if err != nil {
				return err
			}
			name := c.Args().First()
			switch {
			case name == "" && me.Name != dropbox.Lead:
				name = me.Name
			case name == "" && c.Bool("raw"):
				return usagef("claude-swarm status", "logs --raw: for which agent?")
			case name == "":
				return readableLogs(c, p)
			}
			if _, err := p.agent(name, "claude-swarm logs %s"); err != nil && !p.hasLog(name) {
				return err
			}
			// The check is needed because a log contains the agent's mail and its output.
			if err := private((&client.Client{Me: me}).MaySee(name)); err != nil {
				return err
			}
			if c.Bool("raw") {
				return rawLog(c, p, name)
			}
			return readableLog(c, p, name)
		},
	}
}

// hasLog reports whether an agent has a log, even if the agent is no longer in the
// configuration.
func (p *project) hasLog(agent string) bool {
	if dropbox.CheckAgent(agent) != nil {
		return false
	}
	_, err := os.Stat(p.home.AgentLog(agent))
	return err == nil
}

func readableLog(c *cli.Context, p *project, agent string) error {
	t, lines, err := openTail(p.home.AgentLog(agent), 0, c.Int("n"))
	if err != nil {
		return err
	}
	defer t.close()
	out := &logPrinter{w: c.App.Writer, live: isTerminal(c.App.Writer), p: paletteOf(c.App.Writer), agent: agent}
	out.lines(lines)
	if !c.Bool("f") {
		if t.file == nil {
			fmt.Fprintf(narrowed(c.App.ErrWriter), "%s has done nothing yet\n", agent)
		}
		return nil
	}
	if out.live {
		tellWholeMessages(c, p, agent)
	}
	return follow(c, swarm.Filter{Agent: agent, Text: out.live}, out.told, func() error { return out.more(t) })
}

// tellWholeMessages prints a warning if text will appear only as whole messages, not
// while the agent is writing it. If it cannot ask the daemon, it prints nothing, because
// the log is shown in any case.
func tellWholeMessages(c *cli.Context, p *project, agent string) {
	client, err := p.connect(c.Context)
	if err != nil {
		return
	}
	defer client.Close()
	st, err := client.Status(c.Context, agent)
	if err != nil {
		return
	}
	for _, a := range st.Agents {
		if a.Running && !a.Streams {
			fmt.Fprintf(narrowed(c.App.ErrWriter), "this turn of %s began before you followed it: its text appears as whole messages; the next turn's text will appear as it is written\n", a.Name)
		}
	}
}

// follow calls more whenever the file may have new lines, and calls told with each event from
// the daemon, until Ctrl-C. Whole lines are read from the file. Each event either signals
// that the file has new lines or carries a piece of text.
func follow(c *cli.Context, filter swarm.Filter, told func(swarm.FeedEvent), more func() error) error {
	ctx, cancel := context.WithCancel(c.Context)
	events := make(chan swarm.FeedEvent)
	ended := make(chan struct{})
	go func() { // ends when ctx is done; follow waits for it below
		defer close(ended)
		for ctx.Err() == nil {
			// The error is ignored, because the file is read even without a daemon, and
			// the loop tries again.
			_ = followEvents(ctx, c, filter, func(ev swarm.FeedEvent) {
				select {
				case events <- ev:
				case <-ctx.Done():
				}
			})
			wait(ctx, time.Second)
		}
	}()
	defer func() { cancel(); <-ended }()
	tick := time.NewTicker(logPoll)
	defer tick.Stop()
	return readOn(c.Context, events, tick.C, told, more)
}

// readOn is the loop of follow, with the events and ticks from the caller. It calls more
// before it passes an event to told, so that the event's line has already been read. It
// does not call more for a piece of text. On a tick, it passes an event without a kind to
// told.
func readOn(ctx context.Context, events <-chan swarm.FeedEvent, tick <-chan time.Time, told func(swarm.FeedEvent), more func() error) error {
	for {
		var ev swarm.FeedEvent
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is the normal way to stop following
		case ev = <-events:
		case <-tick:
		}
		if ev.Kind != swarm.FeedPartial {
			if err := more(); err != nil {
				return err
			}
		}
		told(ev)
	}
}
