package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A holdups tells a person who is waiting for an answer why an agent is not working on
// the message. It prints each reason once, as soon as the reason occurs.
type holdups struct {
	c       *cli.Context
	project *project
	show    *progress // the progress line, which is cleared before a reason is printed
	w       io.Writer
	wake    chan struct{} // receives a value when the reasons may have changed
	agents  []string      // the agents with waiting messages
	said    map[string]string
	cancel  context.CancelFunc
	ended   chan struct{}
}

// noDaemon is used instead of an agent's name for a hold-up that affects all agents.
const noDaemon = ""

// newHoldups starts listening to the daemon. The caller must close the holdups.
func newHoldups(c *cli.Context, p *post, show *progress) *holdups {
	ctx, cancel := context.WithCancel(c.Context)
	h := &holdups{
		c: c, project: p.project, show: show, w: c.App.ErrWriter, said: map[string]string{},
		wake: make(chan struct{}, 1), cancel: cancel, ended: make(chan struct{}),
	}
	go func() { // ends when ctx is done; close waits for it
		defer close(h.ended)
		wakeOnEvents(ctx, c, h.wake)
	}()
	return h
}

func (h *holdups) close() {
	h.cancel()
	<-h.ended
}

// setAgents sets the agents with waiting messages and prints the reasons why they are not
// working. It does nothing if the agents are the same as before, because the daemon
// reports when their state changes.
func (h *holdups) setAgents(ctx context.Context, agents []string) {
	if slices.Equal(h.agents, agents) {
		return
	}
	h.agents = agents
	h.look(ctx)
}

// look asks the daemon for the agents' status and prints each new reason why they are
// not working.
func (h *holdups) look(ctx context.Context) {
	if len(h.agents) == 0 {
		return
	}
	st, err := h.ask(ctx)
	_, moved := discovery.Elsewhere(h.project.dir, os.Getenv)
	switch {
	case moved && (err == nil || errors.Is(err, control.ErrNoDaemon)):
		h.say(noDaemon, movedText, "try: claude-swarm restart")
		return
	case errors.Is(err, control.ErrNoDaemon):
		why, next := inOtherWorktree(h.project.dir)
		h.say(noDaemon, cmp.Or(why, "no daemon is running"), "try: "+cmp.Or(next, "claude-swarm start"))
		return
	case err != nil:
		return // the daemon may be starting or stopping, and the next event causes another look
	}
	delete(h.said, noDaemon)
	for _, a := range st.Agents {
		if held := view.HoldupOf(a); held != nil {
			h.say(a.Name, holdupText(held), "next: "+screen.OneLine(held.Next))
		} else {
			delete(h.said, a.Name)
		}
	}
}

// holdupText describes the reason why an agent is not working.
func holdupText(h *view.Holdup) string {
	text := h.Agent
	switch {
	case h.State == swarm.Backoff:
		text += " is in backoff"
	case h.Resting():
		text += " is " + string(h.State)
	}
	if h.Why != "" {
		text += ": " + screen.OneLine(h.Why)
	}
	return text
}

func (h *holdups) ask(ctx context.Context) (swarm.Status, error) {
	client, err := h.project.connect(ctx)
	if err != nil {
		return swarm.Status{}, err
	}
	defer client.Close()
	return client.Status(ctx, h.agents...)
}

// say prints the reason why an agent is not working, unless the last reason printed for
// that agent was the same.
func (h *holdups) say(agent, what, next string) {
	if h.said[agent] != what {
		h.show.clear()
		fmt.Fprintf(h.w, "claude-swarm: %s; the message is waiting\n  %s\n", what, next)
		h.said[agent] = what
	}
}
