package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// Options configure a server.
type Options struct {
	Version string // the program's version
	IRC     bool   // whether to offer the IRC tools
	Budget  bool   // whether to offer the budget tool
	Turn    bool   // whether the server runs in a turn, whose system prompt already contains the instructions
	// Open opens the project for one call, with its current configuration, which may have
	// changed since the previous call. The server closes the Caller.
	Open func(ctx context.Context) (*Caller, error)
	// Dial connects to the daemon. The error is [control.ErrNoDaemon] if none is running.
	Dial func(ctx context.Context, c *Caller) (Daemon, error)
	// Whispers returns the supervisor's new whispers for the caller, which are placed
	// before the result of a call. Whispers may be nil.
	Whispers func(ctx context.Context, c *Caller) []string
	// Listed is called when a client asks for the list of tools; it may be nil.
	Listed func()
}

// A Server offers the tools to clients.
type Server struct {
	opts   Options
	list   []*Tool // in the order of the documentation
	listed []*Tool // sorted by name, for clients
	tools  map[string]offered
}

// An offered tool is a tool with its description.
type offered struct {
	tool
	described *Tool
}

// instructions is a description of all tools, which a client outside a turn passes to its
// model.
const instructions = `The tools of the swarm to which you belong. Work comes to you as messages, one
in each turn, and your last words go back to its sender automatically. Use send to give
another agent a task or to tell it something, ask when you need an answer before you can go
on, list_agents to see who is there, and the board for what everybody should know.`

// New creates a server. Call [Server.Serve] to start it.
func New(o Options) *Server {
	s := &Server{opts: o, tools: map[string]offered{}}
	list := tools()
	if o.Budget {
		list = append(list, budgetTools()...)
	}
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

// Tools returns the descriptions of all tools, in the order of the documentation.
func (s *Server) Tools() []*Tool { return s.list }

// advised extends an error about an unknown name or id with a hint about the tools that
// list the valid ones.
func advised(err error) error {
	if unknown, ok := errors.AsType[*swarm.UnknownAgentError](err); ok && len(unknown.Near) == 0 {
		return fmt.Errorf("%w; list_agents lists them all", err)
	}
	if errors.Is(err, dropbox.ErrNotFound) {
		return fmt.Errorf("%w; at least %d characters from the beginning or the end of an id are enough; inbox lists your mail, history what you have done, topics what is published", err, dropbox.MinIDPart)
	}
	return err
}

// call executes one tool call.
func (s *Server) call(ctx context.Context, t offered, arguments json.RawMessage) (out result, whispers []string, err error) {
	arguments, err = check(arguments, t.described.Input)
	if err != nil {
		return nil, nil, err
	}
	caller, err := s.opts.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	daemon := daemonLink{
		dial:   func(ctx context.Context) (Daemon, error) { return s.opts.Dial(ctx, caller) },
		halted: caller.Store.Halted,
	}
	out, err = t.run(ctx, &call{caller, daemon}, arguments)
	if s.opts.Whispers != nil {
		whispers = s.opts.Whispers(ctx, caller)
	}
	return out, whispers, errors.Join(err, caller.Close())
}
