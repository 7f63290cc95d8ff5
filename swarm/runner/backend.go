package runner

import (
	"cmp"
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A Backend runs the turns of one kind of client program. Several turns may use it at the
// same time.
type Backend interface {
	// Kind returns the kind of client that the backend runs. Every call returns the same
	// Kind.
	Kind() *Kind

	// Run runs one turn and blocks until it ends. When ctx is done, Run ends the client
	// by the ladder, and the outcome is [Stopped]. But if the client finished its work
	// anyway, the outcome is [Done], and the work must not be repeated. In every case the
	// goroutines and processes that Run has started are gone when it returns.
	Run(ctx context.Context, t Turn) Outcome

	// Follow continues a turn whose daemon died. If p is alive, Follow follows it until
	// it ends, as Run does. In either case Follow reads t.Stdout to its end. If that file
	// has no result, and Follow did not end the client for another reason, the outcome is
	// [NoResult]. Follow passes the events after t.From to t.Event and ignores earlier
	// ones. It does not call Started, and sends only signals to the client. Spec.Timeout
	// counts from the call.
	Follow(ctx context.Context, t Turn, p Process) Outcome
}

// A Compacter is a [Backend] whose client summarizes its conversation on request.
type Compacter interface {
	Backend
	// CompactPrompt returns the prompt of a turn that only summarizes.
	CompactPrompt() string
}

// A Turn contains everything that a backend needs for one run of a client.
type Turn struct {
	ID    string // unique in the project
	Agent string

	// Client is the ID of the turn that started the client; the client and its children
	// carry it as MarkVar. From is where this turn begins in Stdout. Both are zero for the
	// first turn of a client; see [Resident].
	Client string
	From   Place

	// UUID identifies this prompt to the client. If [Kind].RunsOnce is set, the client
	// runs each UUID only once, even in a later process of the same session.
	UUID string
	// Prompt ends with a paragraph that the caller wrote. The client may take words as
	// more than text, such as the name of a file to read, only in that paragraph, which
	// follows the last empty line. A prompt of one paragraph may be a command.
	Prompt  string
	Session Session
	Spec    Spec
	Env     []string // the whole environment of the client; Environ builds it
	Files

	// Tools is the MCP server through which the agent reaches the swarm; nil for no
	// tools. A started client proves that it has the tools before it gets the prompt,
	// which costs no call of the model. A client that starts servers only with the prompt
	// ([Later]) proves this by the end of the turn. Run ends a client that lacks the
	// tools, and the outcome is [NoFirstEvent], even if its turn had begun.
	Tools *Server

	// Hook is a shell command line that prints the text that the agent needs again right
	// after a compaction; "" for no hook.
	Hook string
	// CapUSD is the maximum that the turn may spend, in US dollars: the amount that the
	// budget reserved for it. 0 means no cap. The client checks its cost after each request
	// to its model, so the turn may exceed the cap by one request, or by one for each of
	// its sub-agents. A backend whose kind does not cap ([Kind].Caps) ignores CapUSD. A
	// turn with a cap needs a client that was started for it, and that client does not
	// stay.
	CapUSD float64
	// Permit decides about the client's permission requests; nil denies all of them. A
	// backend whose client does not ask ([Kind].Asks) never uses it.
	Permit Permit
	// Recalls means that the prompt repeats what the session may have lost. In that case
	// a client that gets Spec.System only in a prompt gets it again.
	Recalls bool
	// Waited returns how long the turn has waited for answers to its questions:
	// Spec.Timeout does not count that time. nil means that the turn never waits.
	Waited func() time.Duration
	// Partial asks for unfinished text, as events of kind "partial".
	Partial bool

	// Grown gets a value when Stdout has grown. The backend also polls (Timing.Poll):
	// between two values, and always if Grown is nil.
	Grown <-chan struct{}
	// Started is called once, when the client is running and before it gets the prompt,
	// so that the caller's records are durable before any work can begin. An error ends
	// the turn as Failed with nothing sent. It may be nil.
	Started func(Process) error
	// Steering brings messages to the turn while it runs; it may be nil. A backend that
	// cannot steer never uses it.
	Steering *Steering
	// Steered are, for Follow, the UUIDs of the messages that an earlier daemon had
	// brought to the turn.
	Steered []string
	// Event is called for each event, in order, in the goroutine of Run, Serve or Follow.
	// The event is valid only during the call. Event may be nil.
	Event func(*streamjson.Event)
}

// Mark returns the value that the client and its children carry as [MarkVar].
func (t Turn) Mark() string { return cmp.Or(t.Client, t.ID) }

// Files are the files of a turn, as absolute paths in folders that exist. The backend
// creates the files, except Ready, so that only their owner can read them. Settings and
// System may be files of the agent's earlier turns, which have ended.
type Files struct {
	Stdout   string // the client's standard output, byte for byte; events can be read from it again
	Stderr   string // its standard error; cut to 1 MiB when it exceeds 4 MiB; later turns of a client use both files of its first turn
	Settings string // settings that the client reads
	System   string // the system prompt, as the client reads it
	Servers  string // the MCP servers, as the client reads them
	Ready    string // made by our tools' server once the client has listed its tools; see [ReadyVar]
	Private  string // a folder that the agent's tools must not read; "" means none
}

// ToolServer is the name of [Turn.Tools] in the client. In events its send tool is called
// mcp__dead-drop__send.
const ToolServer = "dead-drop"

// A Server is an MCP server, whose tools the client offers to its model: a program that the
// client starts and uses over its standard input and output, or an address that it calls.
type Server struct {
	Command string   // the program; "" for an address
	Args    []string // its arguments
	Env     map[string]string

	Type    string // http or sse, for an address
	URL     string
	Headers map[string]string
}

// How describes how a turn gets its session.
type How string

// These are the ways to begin a turn.
const (
	New      How = "new"      // a session that must not exist yet, with this ID
	Resume   How = "resume"   // the session with this ID, which must exist
	Continue How = "continue" // the newest session of Spec.Dir, regardless of who made it; ID is ignored
)

// A Session is the client's own memory of a conversation.
type Session struct {
	ID  string // a UUID, or the id that the client chose ([Kind].NamesSessions)
	How How
}

// A Spec contains the settings that stay the same between the turns of an agent. Dir is
// required; the zero value of every other field means the backend's default.
type Spec struct {
	Command []string // program and first arguments; if empty, the backend's usual program, from the PATH in Turn.Env
	Dir     string   // working folder of the client
	System  string   // text that is added to the client's system prompt
	Model   string   // as the client calls it
	// Thinking is off, low, medium, high, xhigh or max.
	Thinking       string
	PermissionMode string // as the client calls it
	// AllowedTools names the allowed tools; all others are denied. nil allows all built-in
	// tools, and an empty list none.
	AllowedTools *[]string
	// DisallowedTools are denied even when AllowedTools names them.
	DisallowedTools *[]string
	// NoTools means that the client has no tools at all, regardless of the fields above.
	// A backend that cannot remove the tools denies every call.
	NoTools bool
	// Background lets the client work in parallel with the conversation and begin work on
	// its own: commands and sub-agents in the background, timers, monitors. Without it a
	// tool call waits for the work that it began. A turn ends when all its tasks have
	// ended.
	Background bool
	// Servers are additional MCP servers, by name. Apart from these and Turn.Tools, the
	// client has none.
	Servers map[string]Server
	// CompactWindow is the size of the context, in tokens, by which the client
	// decides when to compact.
	CompactWindow int
	// Options are settings that only this kind of client has, by name.
	Options map[string]any

	// Stall is how long a turn may go without printing an event while no tool call is
	// open and its processes do not use the processor. After that the turn is ended. 0
	// means never.
	Stall time.Duration
	// Timeout is how long a turn may run before it is ended. 0 means never.
	Timeout time.Duration
}
