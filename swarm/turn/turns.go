package turn

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/window"
)

// These are attribute keys in the log.
const (
	keyErr  = "err"
	keyTurn = "turn"
	keyWhy  = "why"
)

// Deps contains the dependencies that the turns of all agents share. Every field is safe
// for concurrent use.
type Deps struct {
	Home      journal.Home
	Project   string                    // the path of the project's folder, as passed to clients
	Program   string                    // the path of the claude-swarm program, for the PATH of agents and for the compaction hook; "" if neither needs it
	Environ   []string                  // the environment that clients inherit
	Tools     *runner.Server            // gives agents their tools; nil if there are none
	Backends  map[string]runner.Backend // backends by the names used in Settings.Backend
	Sessions  *journal.Sessions
	Unsorted  *journal.UnsortedTools
	Waiting   *WaitingClients
	Streams   *StreamWatch
	Mailboxes string // the mailboxes folder
	// Config is the path of the configuration file; "" means no file.
	Config string
	Feed   Feed
	// Token returns the secret with which an agent proves that it is the sender.
	Token func(agent string) string
	// Calls hears of the tool calls that can write files.
	Calls Calls
	// ContextSized is called when a client reports the size of an agent's context, and the
	// limit is known. The parameter turn is the turn in which the client reported it. After
	// a compaction, and when the conversation is dropped, c is zero.
	ContextSized func(agent, turn string, c journal.Context)
	// ListTree makes git list the folder of a removed working tree until undo is called: some
	// clients find a conversation only while git lists the folder in which it began. Nil means
	// that agents have no working trees.
	ListTree func(ctx context.Context, dir string) (undo func(), err error)
	// Note is called with errors about files that this package can report but not handle.
	// The error may be nil.
	Note func(error)
}

// Calls hears of the tool calls that can write files. It is safe for concurrent use.
type Calls interface {
	// Began is called when a call begins. lasts reports whether programs that the call
	// starts keep running when it has ended.
	Began(rec *journal.Record, id string, input []byte, lasts bool)
	Ended(agent, id string)
	TurnEnded(agent string)
}

// A Feed receives the text that an agent is writing, provided that there are listeners.
type Feed interface {
	// Wants reports whether any listener wants the pieces of text, and whether any
	// listener wants the raw lines of the client's stream.
	Wants(agent string) (partial, raw bool)
	Partial(agent, message, text string)
	Raw(agent, message, line string)
}

// SessionMode determines which conversation a turn continues.
type SessionMode string

const (
	SessionResume   SessionMode = "resume"   // the agent's own session, by its id; this is the default
	SessionContinue SessionMode = "continue" // the newest session in the folder, regardless of which program began it
	SessionFresh    SessionMode = "fresh"    // a new session for every message
)

// Settings specify how to run the turns of an agent. They do not change during a turn. The
// tags are those of the configuration's keys; see package config.
type Settings struct {
	// Backend is a key of Deps.Backends; "" means the only backend.
	Backend string      `key:"backend" is:"raw,backend" from:"backend" doc:"The kind of agent program. A kind without a default program needs the key command."`
	Client  runner.Spec `key:",inline"`
	// Env is added to the client's environment.
	Env map[string]string `key:"env" is:"free,name" doc:"Variables added to the client's environment. Values are used as written, without expansion. An agent's variables are added to those of defaults."`
	// EnvDrop lists variables removed from that environment: names, or prefixes that end
	// with *.
	EnvDrop []string    `key:"env_drop" is:"drop" doc:"Variables removed from the client's environment: NAME, or PREFIX_* for all with that prefix."`
	Session SessionMode `key:"session" type:"resume | continue | fresh" default:"resume" doc:"The conversation that a turn continues. resume: the agent's own. continue: the newest one in the folder, so no two agents may share that folder. fresh: a new one for every message."`
	// Linger is how long a client is kept for the next message if Session is resume; 0 means
	// that each turn gets a new client.
	Linger time.Duration `key:"linger" zero:"for a process for each turn" from:"linger" doc:"How long the client stays running after a turn, for the next message: that saves the startup time, but uses the client's memory. 0s: a process for each turn. The default is that of the backend: 10m for all clients except claude, because they are slow to start. It needs session: resume, because a client has only one conversation."`
	// WindowTokens is the size of the window, in tokens of 4 bytes.
	WindowTokens int `key:"window_tokens" default:"100000" doc:"How much of the agent's latest turns is kept and given back after the client has compacted its context, in tokens of 4 bytes."`
	// Tools gives the client Deps.Tools.
	Tools bool `key:"mcp" default:"true" doc:"Give the agent the tools of claude-swarm's own MCP server, dead-drop: to send and ask, to list the agents, to read and write the board."`
	// Editable contains names in [runner.OwnFiles].Project, or .git, that the agent's tools may
	// change. It is the same for all agents.
	Editable []string
	// Moves says that the client's folder differs from turn to turn, as the working trees of
	// different tasks do. The conversation is carried along if the client can ([runner.Kind].Forks).
	Moves bool
}

// lingers reports whether clients are kept after a turn. A client has only one session,
// so it is not kept if every turn uses a new session or the newest session in the folder.
func (s Settings) lingers() bool {
	return s.Linger > 0 && (s.Session == "" || s.Session == SessionResume)
}

// windowLimit returns the maximum size of an agent's window, in bytes.
func (s Settings) windowLimit() int { return window.Limit(s.WindowTokens, s.Client.CompactWindow) }

// Turns runs the turns of one agent, one after another, and keeps its client between
// turns. Except for View and Runs, only the agent's goroutine uses it.
type Turns struct {
	*Deps
	View View
	Runs Runs

	name     string
	log      *slog.Logger
	agentLog *journal.AgentLog
	secrets  *Secrets
	wake     func() // wakes the agent's goroutine
	warm     *warm  // the client of the last turn while it waits for the next turn, otherwise nil
	size     contextSize
}

// NewTurns returns the Turns of the agent with the given name. The function wake wakes
// the agent's goroutine, which then calls Tend.
func NewTurns(d *Deps, name string, log *slog.Logger, agentLog *journal.AgentLog, secrets *Secrets, wake func()) *Turns {
	return &Turns{Deps: d, name: name, log: log, agentLog: agentLog, secrets: secrets, wake: wake}
}

// files returns the paths of a client's files in the home.
func (t *Turns) files(mark string) runner.Files {
	return runner.Files{
		Stdout:   t.Home.Stream(mark),
		Stderr:   t.Home.TurnFile(mark, ".stderr"),
		Settings: t.Home.ClientFile(t.name, ".settings.json"),
		System:   t.Home.ClientFile(t.name, ".system.md"),
		Servers:  t.Home.ClientFile(t.name, ".mcp.json"),
		Ready:    t.Home.ClientFile(t.name, ".ready"),
	}
}

func (t *Turns) environment(s Settings, turn string) []string {
	o := runner.EnvOptions{
		Drop: s.EnvDrop, Add: s.Env, Agent: t.name, Dir: t.Project, Token: t.Token(t.name), TurnID: turn,
	}
	if t.Program != "" {
		o.BinDir = filepath.Dir(t.Program)
	}
	return runner.Environ(t.Environ, o)
}

// tools returns the server through which the agent's client reaches the swarm, or nil if
// the client gets no tools.
func (t *Turns) tools(s Settings) *runner.Server {
	if !s.Tools {
		return nil
	}
	return t.Tools
}

// toolsOf returns the server for the tools with which an earlier daemon started a turn.
// The settings of this daemon may differ.
func (t *Turns) toolsOf(rec *journal.Record) *runner.Server {
	switch {
	case !rec.Tools:
		return nil
	case t.Tools == nil:
		return new(runner.Server) // this daemon has no server for tools, but the turn's client still has its tools
	}
	return t.Tools
}

// hook returns the command that the client runs after a compaction, or "" if the client
// runs no command.
func (t *Turns) hook(s Settings) string {
	if t.Program == "" || t.kind(s).Hooks == nil {
		return ""
	}
	return screen.ShellWord(t.Program) + " hook compact"
}

// kind returns the kind of the agent's client.
func (d *Deps) kind(s Settings) *runner.Kind { return d.Backend(s).Kind() }

// Backend returns the backend of an agent with these settings, or nil if the backend is
// unknown.
func (d *Deps) Backend(s Settings) runner.Backend { return BackendOf(d.Backends, s.Backend) }

// BackendOf returns the backend with the given name, or nil if the name is unknown. If
// there is exactly one backend, an empty name means that backend.
func BackendOf(all map[string]runner.Backend, name string) runner.Backend {
	if name == "" && len(all) == 1 {
		for _, b := range all {
			return b
		}
	}
	return all[name]
}
