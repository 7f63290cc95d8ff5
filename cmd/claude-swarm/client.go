package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// connect connects to the project's daemon. It also finds the socket of a daemon that was
// started with a different environment and therefore uses a different folder. The caller
// must close the client.
func (p *project) connect(ctx context.Context) (*control.Client, error) {
	note, _ := discovery.Holder(p.home.LockFile())
	client, err := control.Dial(ctx, p.dir, version, os.Getenv, note.Socket)
	if err == nil {
		client.OnWhisper(func(line string) { fmt.Fprintln(os.Stderr, screen.OneLine(line)) })
	}
	return client, err
}

// whispersPatience is how long a verb that runs in a turn waits for the supervisor's
// whispers.
const whispersPatience = 2 * time.Second

// sayWhispers prints the pending whispers for the agent in whose turn this program runs.
func sayWhispers(stderr io.Writer) {
	if dir, agent := os.Getenv(runner.DirVar), os.Getenv(runner.AgentVar); os.Getenv(runner.MarkVar) != "" && dir != "" && agent != "" {
		takeWhispers(dir, agent, func(line string) { fmt.Fprintln(stderr, screen.OneLine(line)) })
	}
}

// takeWhispers fetches the pending whispers for the agent in whose turn or session this
// program runs, and passes each of them to show. If the daemon does not answer, the
// whispers remain pending and are shown later.
func takeWhispers(dir, agent string, show func(line string)) {
	if !whisper.Waits(journal.HomeOf(dir), agent) {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), whispersPatience)
	defer cancel()
	note, _ := discovery.Holder(journal.HomeOf(dir).LockFile())
	client, err := control.Dial(ctx, dir, version, os.Getenv, note.Socket)
	if err != nil {
		return
	}
	client.OnWhisper(show)
	_ = client.Whispers(ctx) // if this fails, the whispers that were not sent remain pending
	client.Close()           // ends the goroutine that calls show
}

// dial is like connect, but for a verb that needs the daemon. If no daemon is running, the
// error is [control.ErrNoDaemon] with a suggested next command. The caller must close the
// client.
func dial(c *cli.Context, p *project) (*control.Client, error) {
	client, err := p.connect(c.Context)
	note, held := discovery.Holder(p.home.LockFile())
	switch {
	case err == nil:
		if w := client.Warning(); w != "" {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n  try: claude-swarm restart\n", w)
		}
		if name := c.Command.Name; name != "status" && name != "stop" { // status says it in its own place
			sayMoved(c.App.ErrWriter, p.dir)
		}
		return client, nil
	case !errors.Is(err, control.ErrNoDaemon):
		return nil, err
	case held:
		if note.PID == 0 {
			return nil, hint(fmt.Errorf("%w: nothing is listening on its socket, but something holds %s", control.ErrNoDaemon, p.home.LockFile()), "claude-swarm doctor")
		}
		return nil, hint(fmt.Errorf("%w: nothing is listening on its socket, but pid %d holds the project's lock", control.ErrNoDaemon, note.PID),
			"wait if it is just starting or stopping; otherwise kill %d", note.PID)
	}
	if live, err := p.home.LiveClients(); err == nil && len(live) > 0 {
		next := "claude-swarm start"
		if name := c.Command.Name; name == "abort" || name == "stop" {
			next += " && " + commandTyped(c)
		}
		return nil, hint(fmt.Errorf("%w, but the client of %s outlived it: pid %d", control.ErrNoDaemon, live[0].Agent, live[0].Process.PID), "%s", next)
	}
	if _, next := inOtherWorktree(p.dir); next != "" {
		return nil, hint(fmt.Errorf("%w, but one runs in another worktree of this repository", control.ErrNoDaemon), "%s", next)
	}
	return nil, hint(control.ErrNoDaemon, view.StartDaemon)
}

// sayMoved prints a warning if the project was moved while its daemon was running.
func sayMoved(w io.Writer, project string) {
	if _, moved := discovery.Elsewhere(project, os.Getenv); moved {
		fmt.Fprintf(w, "claude-swarm: %s\n  try: %s\n", movedText, view.RestartDaemon)
	}
}

// movedText says what happened to a project whose daemon uses another path.
const movedText = "the project was moved while its daemon was running, so the daemon cannot work"

// ask runs f with a connection to the daemon and the name of the caller. If the daemon does
// not know an agent, the error suggests the most similar name.
func ask(c *cli.Context, p *project, f func(client *control.Client, by string) error) error {
	me, err := p.whoAmI(c.Context)
	if err != nil {
		return err
	}
	return askAsAnyone(c, p, func(client *control.Client) error { return f(client, me.Name) })
}

// askAsAnyone is like ask, for a request that the daemon answers regardless of the caller.
func askAsAnyone(c *cli.Context, p *project, f func(*control.Client) error) error {
	client, err := dial(c, p)
	if err != nil {
		return err
	}
	err = errors.Join(f(client), client.Close())
	if unknown, ok := errors.AsType[*swarm.UnknownAgentError](err); ok {
		return unknownAgent(unknown.Name, unknown.Near, agentsHere(c), typedWith(c, unknown.Name, "%s"))
	}
	return err
}

// agentsHere returns the names of the project's agents, or nil if the configuration has a
// mistake.
func agentsHere(c *cli.Context) []string {
	p, err := loadProject(c)
	if err != nil {
		return nil
	}
	return p.file.Names()
}

// eachAgent carries out an order for the agents named on the command line: one, several, or
// all. The function do carries out the order for one agent and returns the text to print.
// For the name "all", eachAgent skips the agents for which the function where, if not nil,
// returns an error. If a named agent is unknown, eachAgent returns an error and does not
// carry out the order for any agent. If do fails for one agent, the order is still carried
// out for the others.
func eachAgent(c *cli.Context, where func(swarm.AgentStatus) error, do func(client *control.Client, by, agent string) (string, error)) error {
	verb, names := c.Command.Name, namesIn(c)
	if len(names) == 0 {
		return usagef("claude-swarm status", "%s: which agent?", verb)
	}
	p, err := locate(c)
	if err != nil {
		return err
	}
	return ask(c, p, func(client *control.Client, by string) error {
		names, err := agentsOf(c.Context, client, names, where)
		if err != nil {
			return err
		}
		texts, errs := make([]string, len(names)), make([]error, len(names))
		var wg sync.WaitGroup
		for i, name := range names {
			wg.Go(func() { texts[i], errs[i] = do(client, by, name) })
		}
		wg.Wait()
		failed := 0
		for i := range names {
			switch {
			case errs[i] == nil && !c.Bool("json"):
				fmt.Fprint(c.App.Writer, texts[i])
			case errs[i] != nil && len(names) == 1:
				return errs[i]
			case errs[i] != nil:
				report(c.App.ErrWriter, errs[i])
				failed++
			}
		}
		if failed > 0 {
			return fail(exitFailed, "claude-swarm status", "%s: failed for %d of %s", verb, failed, screen.Count(len(names), "agent"))
		}
		return nil
	})
}

// namesIn returns the names on the command line without duplicates. Spaces or commas
// separate the names.
func namesIn(c *cli.Context) (names []string) {
	for _, list := range c.Args().Slice() {
		for _, name := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// agentsOf checks that the daemon knows the named agents and returns their names. For the
// name "all", it returns all agents or, if where is not nil, those for which where
// returns nil.
func agentsOf(ctx context.Context, client *control.Client, names []string, where func(swarm.AgentStatus) error) ([]string, error) {
	if !slices.Contains(names, dropbox.All) {
		_, err := client.Status(ctx, names...)
		return names, err
	}
	st, err := client.Status(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	var left error
	for _, a := range st.Agents {
		if where != nil {
			if err := where(a); err != nil {
				left = err
				continue
			}
		}
		all = append(all, a.Name)
	}
	if len(all) == 0 {
		return nil, left
	}
	return all, nil
}

// agentNamed returns the agent that is the only argument or the value of the flag, or ""
// if the command line names no agent.
func agentNamed(c *cli.Context, flag string) (string, error) {
	verb, by := strings.TrimPrefix(c.Command.HelpName, "claude-swarm "), c.String(flag)
	switch first := c.Args().First(); {
	case c.NArg() == 0:
		return by, nil
	case c.NArg() > 1:
		return "", usagef("claude-swarm help "+verb, "%s: one agent at a time, not %d", verb, c.NArg())
	case by != "" && by != first:
		return "", usagef("claude-swarm help "+verb, "%s: %s or --%s %s, not both", verb, first, flag, by)
	default:
		return first, nil
	}
}

// noArguments returns an error if the command line has arguments. It is for verbs that
// take no arguments.
func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		verb := c.Command.HelpName // such as "claude-swarm dead list"
		return usagef(verb, "%s takes no arguments", strings.TrimPrefix(verb, "claude-swarm "))
	}
	return nil
}
