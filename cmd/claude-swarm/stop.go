package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func stopCommand() *cli.Command {
	return &cli.Command{
		Name: "stop", Category: groupDaemon, ArgsUsage: "[AGENT…]",
		Usage: "stop the daemon, or some of its agents",
		Description: `Stops the daemon: the daemon begins no more turns, and ends when the running
turns have ended. With names, stop stops only these agents, which stay stopped
until they are started again; the daemon keeps running. stop waits for the
running turns, and shows what it waits for. An agent cannot use it in its
turns.

With --now, running turns are ended too. Their messages are put back, and
this does not count as a failure. A turn that succeeds before it is ended
counts as done.` +
			examples("claude-swarm stop", "claude-swarm stop coder", "claude-swarm stop --timeout 1m", "claude-swarm stop --now"),
		Flags:  append(stopFlags(), jsonFlag()),
		Action: stop,
	}
}

func restartCommand() *cli.Command {
	return &cli.Command{
		Name: "restart", Category: groupDaemon,
		Usage: "stop the daemon and start it again",
		Description: `Stops the daemon as stop does and starts a new one, for example to run another
version, or for settings that reload cannot change. If no daemon is running, it
only starts one.` +
			examples("claude-swarm restart", "claude-swarm restart --now"),
		Flags: append(stopFlags(), noIRCFlag()),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			p, err := loadProject(c)
			if err != nil {
				return err
			}
			// This check comes first so that the old daemon keeps running if the new
			// configuration does not allow a daemon to start.
			if err := checkOutside(p.file); err != nil {
				return badConfig(err)
			}
			if err := stopDaemon(c, p); err != nil && !(errors.Is(err, control.ErrNoDaemon) && !lockHeld(p.home)) {
				return err
			}
			return startDaemon(c, p, nil)
		},
	}
}

func stopFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "now", Usage: "end running turns too"},
		spanFlag("timeout", "wait no longer than `TIME`, such as 30s or 5m (exit status 5)"),
	}
}

func stop(c *cli.Context) error {
	p, err := locate(c)
	if err != nil {
		return err
	}
	names := namesIn(c)
	if c.NArg() == 0 {
		return stopDaemon(c, p)
	}
	if len(names) == 0 {
		return usagef("claude-swarm status", "stop: which agent?")
	}
	return ask(c, p, func(client *control.Client, by string) error {
		ctx, cancel := patience(c)
		defer cancel()
		told := waitingFor(c.App.ErrWriter, client, names)
		var wg sync.WaitGroup
		errs, view := make([]error, len(names)), stopView{V: 1, Agents: make([]stopOfAgent, len(names))}
		for i, name := range names {
			wg.Go(func() {
				a := stopOfAgent{Agent: name}
				a.Cut, errs[i] = client.Stop(ctx, name, by, c.Bool("now"))
				a.Stopped = errs[i] == nil
				view.Agents[i] = a
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }() // the code below waits until done is closed
		told.until(c.Context, done)
		<-done
		if ctx.Err() != nil {
			return gaveUp(c, client, names, "the agents stop when their turns have ended")
		}
		for i, name := range names {
			if errs[i] == nil && !c.Bool("json") {
				fmt.Fprintf(c.App.Writer, "%s stopped\n", name)
				view.Agents[i].write(c.App.Writer)
			}
		}
		if err := errors.Join(errs...); err != nil || !c.Bool("json") {
			return err
		}
		return printJSON(c.App.Writer, view)
	})
}

// A stopView is the JSON form of a stop's outcome.
type stopView struct {
	V      int           `json:"v"`
	Daemon bool          `json:"daemon"` // whether the daemon has stopped
	Agents []stopOfAgent `json:"agents"` // the named agents or, if the daemon was stopped, the agents whose turns were stopped
}

// A stopOfAgent is the outcome of a stop for one agent.
type stopOfAgent struct {
	Agent      string `json:"agent"`
	Stopped    bool   `json:"stopped"` // false if the agent will stop later, because its turn is waiting for the caller's turn
	*swarm.Cut        // nil if no turn was stopped
}

// write prints the outcome of the agent's turn if one was stopped.
func (a stopOfAgent) write(w io.Writer) {
	if a.Cut != nil {
		fmt.Fprintf(w, "%s: %s\n", a.Agent, cutText(*a.Cut))
	}
}

// stopDaemon tells the daemon to stop and waits until it has stopped.
func stopDaemon(c *cli.Context, p *project) error {
	return ask(c, p, func(client *control.Client, by string) error {
		var running []swarm.AgentStatus
		if c.Bool("now") {
			st, err := client.Status(c.Context)
			if err != nil {
				return err
			}
			running = st.Agents
		}
		if err := client.Shutdown(c.Context, by, c.Bool("now")); err != nil && !errors.Is(err, control.ErrGone) {
			return err
		}
		ctx, cancel := patience(c)
		defer cancel()
		waitingFor(c.App.ErrWriter, client, nil).until(ctx, client.Gone())
		select {
		case <-client.Gone():
			return sayStopped(c, p.home, running)
		default:
			return gaveUp(c, client, nil, "the daemon stops when its turns have ended")
		}
	})
}

// sayStopped prints that the daemon has stopped. It also prints the outcomes of the given
// agents' turns, which it determines from the files.
func sayStopped(c *cli.Context, home journal.Home, agents []swarm.AgentStatus) error {
	view := stopView{V: 1, Daemon: true, Agents: []stopOfAgent{}}
	for _, a := range agents {
		if a.Message == nil {
			continue
		}
		cut, err := cutIn(c, home, a.Name, a.Message.ID)
		if err != nil {
			return err
		}
		if cut != nil {
			view.Agents = append(view.Agents, stopOfAgent{a.Name, true, cut})
		}
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, view)
	}
	fmt.Fprintln(c.App.Writer, "stopped")
	for _, a := range view.Agents {
		a.write(c.App.Writer)
	}
	return nil
}

// cutIn reads the state of a stopped turn's message from the mailboxes. It returns nil if
// the message is gone or if the next daemon will handle it. A turn without a message
// compacts the context. If the order to compact no longer exists, the compaction was
// completed, and cutIn returns nil.
func cutIn(c *cli.Context, home journal.Home, agent, id string) (*swarm.Cut, error) {
	store, _, err := openFolder(c)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	if id == "" {
		waits, err := swarm.ToBeCompacted(home, agent)
		if err != nil || !waits {
			return nil, err
		}
		return &swarm.Cut{State: dropbox.Waiting}, nil
	}
	found, err := store.Find(id)
	switch {
	case errors.Is(err, dropbox.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	switch found.State {
	case dropbox.Done, dropbox.Dead, dropbox.Waiting:
		return &swarm.Cut{Message: found.Entry.ID, State: found.State}, nil
	}
	return nil, nil
}

// patience returns a context with the timeout from the flag --timeout, if that flag is
// set.
func patience(c *cli.Context) (context.Context, context.CancelFunc) {
	if d := spanOf(c, "timeout"); d > 0 {
		return context.WithTimeout(c.Context, d)
	}
	return context.WithCancel(c.Context)
}

// gaveUp returns the error for a stop that gave up waiting after a timeout or Ctrl-C.
func gaveUp(c *cli.Context, client *control.Client, names []string, meanwhile string) error {
	now := "claude-swarm stop --now"
	if len(names) > 0 {
		now = "claude-swarm stop " + strings.Join(names, " ") + " --now"
	}
	if err := c.Context.Err(); err != nil {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n  try: %s\n", meanwhile, now)
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, time.Second)
	defer cancel()
	running := ""
	if st, err := client.Status(ctx, names...); err == nil {
		running = ": " + runningTurns(st, time.Now())
	}
	return fail(exitTimeout, now, "not stopped after %v%s", spanOf(c, "timeout"), running)
}

// runningTurns returns a list of the running turns, such as "coder (k7f3q9m2xd, 12 s)".
func runningTurns(st swarm.Status, now time.Time) string {
	var turns []string
	for _, a := range st.Agents {
		if a.Message != nil {
			what := cmp.Or(a.Message.ID, a.Description) // a turn that compacts the context has no message
			turns = append(turns, fmt.Sprintf("%s (%s, %s)", a.Name, what, screen.Span(now.Sub(a.Message.Since))))
		}
	}
	if len(turns) == 0 {
		return noTurn
	}
	return strings.Join(turns, ", ")
}

// awaited describes what a stop is waiting for: running turns, or the work after the last
// turn, such as posting the last messages on IRC. The argument waited is how long the stop
// has been waiting. If no turn is running and waited is less than longEnd, awaited returns
// "".
func awaited(st swarm.Status, now time.Time, waited time.Duration) string {
	if turns := runningTurns(st, now); turns != noTurn {
		return turns
	}
	if waited < longEnd {
		return ""
	}
	return "the end: " + noTurn
}

// longEnd is how long a stop waits for a daemon without a running turn before it prints
// that it is still waiting.
const longEnd = 3 * time.Second

// A waiting shows the turns for which a stop is waiting. On a terminal, it redraws a line
// every second. Elsewhere, it prints only one line.
type waiting struct {
	w      io.Writer
	client *control.Client
	names  []string
}

func waitingFor(w io.Writer, client *control.Client, names []string) *waiting {
	return &waiting{w: w, client: client, names: names}
}

// until shows what the stop is waiting for, and returns when done is closed or ctx is
// done. If the stop finishes immediately, it prints nothing.
func (t *waiting) until(ctx context.Context, done <-chan struct{}) {
	live := isTerminal(t.w)
	shown, began := false, time.Now()
	timer := time.NewTimer(300 * time.Millisecond)
	defer timer.Stop()
	for {
		select {
		case <-done:
		case <-ctx.Done():
		case <-timer.C:
			asking, cancel := context.WithTimeout(ctx, time.Second)
			st, err := t.client.Status(asking, t.names...)
			cancel()
			what := awaited(st, time.Now(), time.Since(began))
			switch {
			case err != nil || what == "":
			case live:
				fmt.Fprintf(t.w, "\r\x1b[Kwaiting for %s", screen.Cut(what, width-13))
				shown = true
			case !shown:
				fmt.Fprintf(t.w, "waiting for %s\n", what)
				shown = true
			}
			timer.Reset(time.Second)
			continue
		}
		if live && shown {
			fmt.Fprint(t.w, "\r\x1b[K")
		}
		return
	}
}
