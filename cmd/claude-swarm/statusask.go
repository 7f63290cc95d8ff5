package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/provision"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// statusNow gets the status from the daemon or, if no daemon answers, from the files.
func statusNow(c *cli.Context) (st swarm.Status, err error) { return statusOf(c, c.Args().Slice()) }

// statusOf is like statusNow, for the agents with the given names, or for all if there are none.
func statusOf(c *cli.Context, names []string) (st swarm.Status, err error) {
	if path, here, err := whichConfig(c); err == nil && here != "" {
		defer func() {
			w := provision.LinkedWorktree(here, path)
			st.Trouble = append(st.Trouble, swarm.Problem{Why: w.String(), Next: provision.OwnSwarm})
			for _, u := range w.Unread() {
				st.Trouble = append(st.Trouble, swarm.Problem{Why: u.Why, Next: u.Next})
			}
		}()
	}
	p, err := locate(c)
	if err != nil {
		return st, err
	}
	err = askAsAnyone(c, p, func(client *control.Client) (err error) {
		st, err = view.Ask(c.Context, client, names, func() ([]string, error) {
			p, err := loadProject(c)
			if err != nil {
				return nil, err
			}
			return p.file.Names(), nil
		})
		return err
	})
	// A daemon that exited during the request is treated as if it were not running.
	if !errors.Is(err, control.ErrNoDaemon) && !errors.Is(err, control.ErrGone) {
		if _, moved := discovery.Elsewhere(p.dir, os.Getenv); err == nil && moved {
			// The daemon does not know where the project is now. Its problems with files at
			// the old path are consequences.
			others := slices.DeleteFunc(st.Trouble, func(t swarm.Problem) bool { return strings.Contains(t.Why, st.Project) })
			st.Trouble = append([]swarm.Problem{{
				Why: "the project was moved from " + st.Project + " while its daemon was running, so the daemon cannot work", Next: view.RestartDaemon,
			}}, others...)
		}
		return st, err
	}
	silent := ""
	if lockHeld(p.home) {
		silent = err.Error()
	}
	st, err = offline(c, names)
	if silent != "" {
		st.Trouble = append(st.Trouble, swarm.Problem{Why: silent})
	} else if why, next := inOtherWorktree(p.dir); why != "" {
		st.Trouble = append(st.Trouble, swarm.Problem{Why: why, Next: next})
	}
	return st, err
}

// offline determines the status of the asked agents from the files, or of all if none is asked.
func offline(c *cli.Context, asked []string) (st swarm.Status, err error) {
	p, err := loadProject(c)
	if err != nil {
		return st, err
	}
	names, err := p.agents(asked, "claude-swarm status %s")
	if err != nil {
		return st, err
	}
	store, err := dropbox.Open(p.file.DeadDropDir, p.storeOptions())
	if errors.Is(err, dropbox.ErrNoStore) {
		if why, next := inOtherWorktree(p.dir); why != "" {
			return st, fail(exitUnknown, next, "no mailboxes at %s yet: %s", p.file.DeadDropDir, why)
		}
		return st, fail(exitUnknown, "claude-swarm start", "no mailboxes at %s yet", p.file.DeadDropDir)
	} else if err != nil {
		return st, err
	}
	defer store.Close()
	st, err = swarm.Offline(p.home, store, planOf(p.file), p.dir, time.Now())
	st.Agents = slices.DeleteFunc(st.Agents, func(a swarm.AgentStatus) bool { return !slices.Contains(names, a.Name) })
	if len(asked) > 0 {
		st.OnlyAgents()
	}
	if err == nil {
		st.IRC, err = view.IRCOf(p.file, p.home)
	}
	return st, err
}
