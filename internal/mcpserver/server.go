package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// Options are what a server cannot do without.
type Options struct {
	Version string // of the program
	IRC     bool   // the tools for IRC are offered too
	Turn    bool   // it serves a turn, whose system text says what the instructions say
	// Open gives a call what it works with, as it is now: the configuration may have
	// changed since the last one. The call closes it.
	Open func() (*Desk, error)
	// Dial finds the daemon. The error is [control.ErrNoDaemon] when none runs.
	Dial func(ctx context.Context, d *Desk) (Daemon, error)
}

// A Desk is what one call works with.
type Desk struct {
	*client.Client
	Project string     // folder of the project
	Plan    swarm.Plan // of its configuration
	Folders []string   // those that the caller may make its working folder, and attach files from
	Close   func() error
}

// A Daemon is what is asked of it. It is [*control.Client].
type Daemon interface {
	Status(ctx context.Context, agents ...string) (swarm.Status, error)
	Pause(ctx context.Context, agent string, o swarm.PauseOrder) error
	Abort(ctx context.Context, agent, by string) (swarm.Cut, error)
	Compact(ctx context.Context, agent, by string) error
	Clear(ctx context.Context, agent, by string) error
	Close() error
}

// A Server offers the tools.
type Server struct {
	opts   Options
	list   []*Tool // in the order of the manual
	listed []*Tool // for clients, by name
	tools  map[string]offered
}

// An offered is a tool with its description.
type offered struct {
	tool
	described *Tool
}

// instructions are what a client outside of a turn tells its model of all the tools
// together.
const instructions = `The tools of the swarm that you are an agent of. Work comes to you as messages, one
in each turn, and your last words go back to its sender by themselves. Use send to give
another agent a task or to tell something, ask when you need an answer before you can go
on, list_agents to see who is there, and the board for what everybody should know.`

// New makes a server. It starts nothing.
func New(o Options) *Server {
	s := &Server{opts: o, tools: map[string]offered{}}
	list := tools()
	if o.IRC {
		list = append(list, ircTools()...)
	}
	for _, t := range list {
		described := t.describe()
		s.list = append(s.list, described)
		s.tools[described.Name] = offered{t, described}
	}
	s.listed = slices.SortedFunc(slices.Values(s.list), func(a, b *Tool) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// Tools are the descriptions of all tools, in their order.
func (s *Server) Tools() []*Tool { return s.list }

// advised adds where to look to an error that a wrong name is the reason of.
func advised(err error) error {
	if unknown, ok := errors.AsType[*swarm.UnknownAgentError](err); ok && len(unknown.Near) == 0 {
		return fmt.Errorf("%w; list_agents names all", err)
	}
	if errors.Is(err, dropbox.ErrNotFound) {
		return fmt.Errorf("%w; the beginning or the end of an id is enough, from %d characters on; inbox lists your mail, history what you have done, topics what is published", err, dropbox.MinIDPart)
	}
	return err
}

func (s *Server) call(ctx context.Context, t offered, arguments json.RawMessage) (result, error) {
	arguments, err := check(arguments, t.described.Input)
	if err != nil {
		return nil, err
	}
	desk, err := s.opts.Open()
	if err != nil {
		return nil, err
	}
	out, err := t.run(ctx, &call{Desk: desk, dial: s.opts.Dial}, arguments)
	return out, errors.Join(err, desk.Close())
}

// A call is one call of a tool on its way.
type call struct {
	*Desk
	dial func(context.Context, *Desk) (Daemon, error)
}

// daemon finds the daemon; nil when none runs. The caller closes it.
func (c *call) daemon(ctx context.Context) (Daemon, error) {
	d, err := c.dial(ctx, c.Desk)
	if errors.Is(err, control.ErrNoDaemon) {
		return nil, nil
	}
	return d, err
}

// nobodyWorks says why what was sent to agents is not worked on now; "" when it is.
func (c *call) nobodyWorks(ctx context.Context) (string, error) {
	d, err := c.daemon(ctx)
	switch {
	case err != nil:
		return "", err
	case d == nil:
		return noDaemon, nil
	}
	if c.Store.Halted() {
		err = d.Close()
		return halted, err
	}
	return "", d.Close()
}

// halted is told when nothing is begun.
const halted = "The swarm is halted: mail waits until a person lets the agents work again (claude-swarm unhalt)."

// noDaemon is told in every result that a daemon would have made better.
const noDaemon = "No daemon runs: mail can be read and left, and waits until a person starts one (claude-swarm start)."
