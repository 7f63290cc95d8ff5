package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// sayHoldups prints why messages to these mailboxes must wait: no daemon is running for the
// project, the project was moved while its daemon was running, the swarm is halted, an
// agent's state prevents its next turn, or the daemon has not read the agent's entry yet. It
// prints nothing for mail to the lead, which needs no daemon, and prints an agent's state
// only for the lead.
func (p *post) sayHoldups(c *cli.Context, to ...string) {
	var agents []string
	for _, name := range to {
		if name != dropbox.Lead && !slices.Contains(agents, name) {
			agents = append(agents, name)
		}
	}
	if len(agents) == 0 {
		return
	}
	waits := func(why, next string) {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s; the message is waiting\n  %s\n", why, next)
	}
	listens, moved := daemonListens(p.dir)
	switch {
	case moved:
		waits(movedText, "try: claude-swarm restart")
	case !listens:
		if why, next := inOtherWorktree(p.dir); why != "" {
			waits(why, "try: "+next)
			return
		}
		waits("no daemon is running", "try: claude-swarm start")
	case p.Store.Halted():
		waits("the swarm is halted", "try: claude-swarm unhalt")
	case p.Me.Name == dropbox.Lead:
		// The message is accepted, so an error only means that nothing is printed.
		_ = askAsAnyone(c, p.project, func(client *control.Client) error {
			for _, name := range agents {
				st, err := client.Status(c.Context, name)
				if _, unknown := errors.AsType[*swarm.UnknownAgentError](err); unknown {
					if _, there := p.file.Agent(name); there {
						waits("the daemon has not read the entry of "+name+" in "+config.Name+" yet", "try: claude-swarm reload")
					}
					continue
				} else if err != nil {
					return err
				}
				for _, a := range st.Agents {
					if held := view.HoldupOf(a); held != nil && (held.Lasting() || a.Drain != nil) {
						waits(holdupText(held), "next: "+screen.OneLine(held.Next))
					}
				}
			}
			return nil
		})
	}
}

// daemonListens reports whether a daemon is listening for the project, and whether the
// project was moved while its daemon was running.
func daemonListens(project string) (listens, moved bool) {
	if !lockHeld(journal.HomeOf(project)) {
		return false, false // no daemon is running
	}
	if discovery.Listening(project, os.Getenv) {
		return true, false
	}
	return discovery.Elsewhere(project, os.Getenv)
}
