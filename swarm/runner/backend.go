package runner

import (
	"cmp"
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A Backend runs the turns of one kind of client program. It is safe for
// several goroutines, each with a separate turn.
type Backend interface {
	// Kind says what kind of client the backend runs. It is the same at every call.
	Kind() *Kind

	// Run runs one turn to its end and blocks for so long. When ctx is done Run ends the
	// client by the ladder and the outcome is [Stopped], unless the client finished its
	// work anyway: that is [Done], and must not be done again. In every case the goroutines
	// and processes that Run has started are gone when it returns.
	Run(ctx context.Context, t Turn) Outcome

	// Follow takes up a turn whose daemon died: as long as p lives Follow follows it to its
	// end, as in Run; then, or if p is dead, it reads the file to the end. Without a result
	// in the file the outcome is [NoResult]. Follow passes the events of the file to
	// t.Event from the first one after t.From on, and ignores those before. It does not
	// call Started, and sends the client nothing but signals. Spec.Timeout counts from the
	// call.
	Follow(ctx context.Context, t Turn, p Process) Outcome
}

// A Compacter is a [Backend] whose client summarizes its conversation on request.
type Compacter interface {
	Backend
	// CompactPrompt is the prompt of a turn that only does that.
	CompactPrompt() string
}

// A Turn has everything that a backend needs for one run of a client.
type Turn struct {
	ID    string // unique in the project
	Agent string

	// Client is the ID of the turn that started the client, which it and its
	// children carry as MarkVar, and From is where in Stdout this turn begins. Both
	// are zero for the first turn of a client; see [Resident].
	Client string
	From   Place

	// UUID names this prompt to the client, which runs each UUID only once, also in a later
	// process of the same session.
	UUID string
	// Prompt ends with a paragraph that the caller wrote: only there, after the last empty
	// line, may the client look for more than text, such as a file to read. A prompt of one
	// paragraph may be a command.
	Prompt  string
	Session Session
	Spec    Spec
	Env     []string // the whole environment of the client; Environ builds it
	Files

	// Tools is the MCP server through which the agent reaches the swarm; nil for no tools.
	// A started client proves that it has the tools before it gets the prompt, which costs
	// no call of the model. Run ends a client that lacks them, and the outcome is
	// [NoFirstEvent], also where its turn had begun.
	Tools *Server

	// Hook is the command line (for a shell) that prints the text that the agent needs
	// again right after a compaction; "" for no hook.
	Hook string
	// Permit decides what the client asks for; nil denies all of it. A backend whose client
	// does not ask ([Kind].Asks) never uses it.
	Permit Permit
	// Partial asks for unfinished texts, as events of kind "partial".
	Partial bool

	// Grown gets a value when Stdout has grown. With nil, or between two values, the
	// backend polls (Timing.Poll).
	Grown <-chan struct{}
	// Started is called once, when the client runs and before it gets the prompt: its
	// records are durable before any work can begin. An error ends the turn as Failed with
	// nothing sent. It may be nil.
	Started func(Process) error
	// Steering brings messages to the turn while it runs; it may be nil. A backend that
	// cannot steer never uses it.
	Steering *Steering
	// Steered are the UUIDs of the messages that an earlier daemon had brought, for Follow.
	Steered []string
	// Event is called for each event, in order, in the goroutine of Run or
	// Follow. The event is valid only during the call. It may be nil.
	Event func(*streamjson.Event)
}

// Mark is what the client and its children carry as [MarkVar].
func (t Turn) Mark() string { return cmp.Or(t.Client, t.ID) }

// Files are the files of a turn, as absolute paths in folders that exist. The backend
// creates them, readable only by their owner. Settings and System may be those of the
// agent's earlier turns, which have ended.
type Files struct {
	Stdout   string // the client's standard output, byte for byte; events can be read from it again
	Stderr   string // its standard error; kept below 4 MiB; both are those of the client's first turn
	Settings string // settings that the client reads
	System   string // the system text, as the client reads it
	Servers  string // the MCP servers, as the client reads them
	Ready    string // made by our tools' server once the client has listed its tools; see [ReadyVar]
	Private  string // a folder that the agent's tools must not read; "" is none
}

// ToolServer is the name of [Turn.Tools] in the client: its tool send is
// mcp__dead-drop__send there.
const ToolServer = "dead-drop"

// A Server is an MCP server, whose tools the client offers to its model: a program that the
// client starts and uses over its standard input and output, or an address that it calls.
type Server struct {
	Command string   // the program; "" for one that is called
	Args    []string // its arguments
	Env     map[string]string

	Type    string // http or sse, for an address
	URL     string
	Headers map[string]string
}

// How says how a turn gets its session.
type How string

// The ways to begin a turn.
const (
	New      How = "new"      // a session that must not exist yet, with this ID
	Resume   How = "resume"   // the session with this ID, which must exist
	Continue How = "continue" // the newest session of Spec.Dir, of any maker; ID is ignored
)

// A Session is the client's own memory of a conversation.
type Session struct {
	ID  string // a UUID
	How How
}

// A Spec has the settings that do not change between two turns of an agent. The zero value
// of each field but Dir means the backend's own choice.
type Spec struct {
	Command []string // program and first arguments; empty: the backend's usual program, from the PATH in Turn.Env
	Dir     string   // working folder of the client
	System  string   // text that is added to the client's system prompt
	Model   string   // as the client calls it
	// Thinking is off, low, medium, high, xhigh or max.
	Thinking       string
	PermissionMode string // as the client calls it
	// AllowedTools names the allowed tools; all others are denied. nil: all built-in tools.
	// An empty list: no tools.
	AllowedTools *[]string
	// DisallowedTools are denied even when AllowedTools names them.
	DisallowedTools *[]string
	// Background lets the client work beside the conversation, and begin work by itself:
	// commands and sub-agents in the background, timers, monitors. Without it a tool call
	// waits for the work that it began. A turn ends when all its tasks have ended.
	Background bool
	// Servers are more MCP servers, by name. The client has no others.
	Servers map[string]Server
	// CompactWindow is the size of the context, in tokens, by which the client
	// decides when to compact.
	CompactWindow int
	// Options are settings that only this kind of client has, by the names that its backend
	// knows.
	Options map[string]any

	// Stall ends a turn that has printed no event for so long, has no tool call open, and
	// whose processes do not use the processor. 0: never.
	Stall time.Duration
	// Timeout ends a turn that has run for so long. 0: never.
	Timeout time.Duration
}
