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
	// with a [Ladder], and the outcome is [Stopped]. If the client finishes its work
	// anyway, the outcome is [Done], and the work must not be repeated. When Run returns,
	// all goroutines and processes that it started have ended.
	Run(ctx context.Context, t Turn) Outcome

	// Follow continues a turn whose daemon died. If p is alive, Follow follows it until
	// it ends, as Run does. In either case, Follow reads t.Stdout to its end. If that
	// file contains no result, and Follow has not ended the client for another reason,
	// the outcome is [NoResult]. Follow passes the events after t.From to t.Event and
	// ignores earlier ones. It does not call Started, and sends only signals to the
	// client. Spec.Timeout is measured from the call.
	Follow(ctx context.Context, t Turn, p Process) Outcome
}

// A Compacter is a [Backend] whose client summarizes its conversation on request.
type Compacter interface {
	Backend
	// CompactPrompt returns the prompt of a turn that only summarizes.
	CompactPrompt() string
}

// A Turn contains everything that a backend needs to run one turn of a client.
type Turn struct {
	ID    string // unique in the project
	Agent string

	// Client is the ID of the turn that started the client; the client and its children
	// carry it as MarkVar. From is the place in Stdout where this turn begins. Both are
	// zero for the first turn of a client; see [Resident].
	Client string
	From   Place

	// UUID identifies this prompt to the client. If [Kind].RunsOnce is set, the client
	// runs each UUID only once, even in a later process of the same session.
	UUID string
	// Prompt ends with a paragraph that the caller wrote. Only in that paragraph, which
	// follows the last empty line, does the client give words a special meaning, for
	// example as names of files to read. A prompt that consists of one paragraph can be a
	// command.
	Prompt  string
	Session Session
	Spec    Spec
	Env     []string // the complete environment of the client; Environ builds it
	Files

	// Tools is the MCP server through which the agent reaches the swarm; nil means no
	// tools. A new client must prove that it has the tools before it gets the prompt,
	// which requires no model call. A client that starts servers only at the prompt
	// ([Later]) must prove this by the end of the turn. Run ends a client that lacks the
	// tools, and the outcome is [NoFirstEvent], even if its turn had begun.
	Tools *Server

	// Protected lists the files that the client's tools must not use.
	Protected Protected

	// Hook is a shell command line. It prints the text that the agent needs again right
	// after a compaction. "" means no hook.
	Hook string
	// CapUSD is the maximum that the turn may spend, in US dollars. It is the amount that
	// the budget has reserved for the turn. 0 means no cap. The client checks its cost
	// after each request to its model, so the turn may exceed the cap by one request, or by
	// one for each of its sub-agents. A backend whose kind does not support a cap
	// ([Kind].Caps) ignores CapUSD. A turn with a cap needs a newly started client, and
	// that client is not kept for another turn.
	CapUSD float64
	// Permit decides on the client's permission requests; nil denies all of them. A
	// backend whose client does not ask ([Kind].Asks) never uses it.
	Permit Permit
	// Recalls means that the prompt repeats what the session may have lost. A client that
	// gets Spec.System only in a prompt then gets it again.
	Recalls bool
	// Waited returns how long the turn has waited for answers to its questions. That time
	// does not count toward Spec.Timeout. nil means that the turn never waits.
	Waited func() time.Duration
	// Partial requests unfinished text, in events of kind "partial".
	Partial bool

	// Grown receives a value when Stdout has grown. The backend also polls at intervals
	// (Timing.Poll). If Grown is nil, it relies on polling alone.
	Grown <-chan struct{}
	// Started is called once, after the client has started and before it gets the prompt,
	// so that the caller can make its records durable before any work begins. If it
	// returns an error, the turn ends as Failed and no prompt is sent. Started can be
	// nil.
	Started func(Process) error
	// Prompted is called once, when the prompt has been sent to the client, in the goroutine
	// of Run or Serve. It is not called if the client ends before that. It can be nil.
	Prompted func()
	// Steering delivers messages to the turn while it runs. It can be nil. A backend that
	// cannot steer never uses it.
	Steering *Steering
	// Steered contains the UUIDs of the messages that an earlier daemon had delivered to
	// the running turn. Only Follow uses it.
	Steered []string
	// Spent is called with what the turn has cost so far, in US dollars, whenever the client
	// reports it, in the goroutine of Run, Serve or Follow. The true cost may be higher. A
	// client that reports its cost only with its result never reports it in time. Spent can
	// be nil.
	Spent func(usd float64)
	// Event is called for each event, in order, in the goroutine of Run, Serve or Follow.
	// The event is valid only during the call. Event can be nil.
	Event func(*streamjson.Event)
}

// Mark returns the value that the client and its children carry as [MarkVar].
func (t Turn) Mark() string { return cmp.Or(t.Client, t.ID) }

// IsPrompted calls Prompted.
func (t Turn) IsPrompted() {
	if t.Prompted != nil {
		t.Prompted()
	}
}

// Files contains the absolute paths of a turn's files. Their folders must exist. The
// backend creates all files except Ready, and only their owner can read them. Settings
// and System may already exist from earlier turns of the agent, which have ended.
type Files struct {
	Stdout   string // the client's unmodified standard output; events can be read from it again
	Stderr   string // the client's standard error, cut to 1 MiB when it exceeds 4 MiB; later turns of a client use Stdout and Stderr of its first turn
	Settings string // settings that the client reads
	System   string // the system prompt, in the form that the client reads
	Servers  string // the MCP servers, in the form that the client reads
	Ready    string // created by our tool server when it has listed its tools for the client; see [ReadyVar]
}

// ToolServer is the name by which the client refers to [Turn.Tools]. In events, its send
// tool is called mcp__dead-drop__send.
const ToolServer = "dead-drop"

// How specifies whether a turn begins or continues a session.
type How string

// These are the ways in which a turn can get its session.
const (
	New      How = "new"      // a new session with this ID, which must not exist yet
	Resume   How = "resume"   // the session with this ID, which must exist
	Continue How = "continue" // the newest session of Spec.Dir, regardless of who created it; ID is ignored
	Fork     How = "fork"     // a new session with this ID, which begins as a copy of the session From; see [Kind].Forks
)

// A Session is the client's own memory of a conversation.
type Session struct {
	ID   string // a UUID, or an id that the client has chosen ([Kind].NamesSessions)
	How  How
	From string // the session that a fork continues
}
