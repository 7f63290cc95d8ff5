package runner

import (
	"encoding/json"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// An End is how a turn ended, as far as the next step depends on it.
type End string

// The ends of a turn. Their words stand in records and in the ledger.
const (
	Done         End = "done"       // the client says that it did its work
	Failed       End = "failed"     // the client says that it failed, or it stopped without a word after it had begun
	NoFirstEvent End = "unborn"     // the client died before its first event: the message is not to blame
	Limited      End = "limited"    // the account or the service is at fault: usage limit, credit, login, overload, no connection; see ResetAt
	Refused      End = "refused"    // the set-up is at fault: wrong key, no login, unknown model, not installed, bad flag; trying again is useless
	NoSession    End = "no-session" // the session to resume is unknown, or the one to make exists
	Stalled      End = "stalled"    // ended by us: silent, idle, and waiting for no tool
	TimedOut     End = "timed-out"  // ended by us: longer than Spec.Timeout
	Stopped      End = "stopped"    // ended by us: the context was done, or what the client said was lost for want of room
	NoResources  End = "short"      // the machine has no room, file or process left for the client now: nothing was sent
	NoResult     End = "lost"       // Follow: the client is dead and its file has no result
	ClientGone   End = "gone"       // Serve: the client that waited had ended, or did before it took the prompt: nothing was done
	PromptNotRun End = "unheard"    // the client acknowledged the prompt without running it: it knows the UUID
)

// OK reports whether the work was done.
func (e End) OK() bool { return e == Done }

// An Outcome is all that is known of a turn when it has ended.
type Outcome struct {
	End    End
	Reason string // one line for a person; empty when Done
	// Hint is what the person can do next, one line; it may be empty. It does not
	// say how the agent is started again: that is the daemon's.
	Hint string
	Text string // the client's final words: the summary, or its error text

	Session string // as the client names it; "" when it never did
	Model   string // of the main conversation

	Spent
	Denied []Denial // tool calls that were not permitted, in order
	Files  []string // paths that Write, Edit and the like changed, as the client named them; sorted, no doubles

	// Steered are the UUIDs of what came by the turn's Steering, was taken in, and was
	// answered by a good result.
	Steered []string

	// ResetAt is when the limit of a Limited turn ends; zero when the client did not say.
	ResetAt time.Time
	// Unknown says of a Limited turn that the client named no cause. The message may
	// be at fault, so it is not parked without end.
	Unknown bool

	Exit
	FirstEvent bool // the client printed at least one event
	Began      time.Time
	Ended      time.Time
	Stream     streamjson.Stats
}

// Spent is what a turn has used up.
type Spent struct {
	Tokens      streamjson.Usage // of all requests of the main conversation
	CostUSD     float64          // with sub-agents and compactions; 0 where CostUnknown
	CostUnknown bool             // the client tells no cost
	ToolCalls   int
	Compactions int
	// ContextTokens is the size of the conversation at its last request, and
	// ContextLimit the most that the model takes; 0 when unknown.
	ContextTokens int
	ContextLimit  int
}

// An Exit is how the client's process ended.
type Exit struct {
	ExitCode int    // -1 when it was ended by a signal, or is not known
	Signal   string // such as "killed"; "" when it exited by itself
	// Leftovers counts the processes of the turn that still lived when the
	// client had ended, and were ended too.
	Leftovers int
}

// A Denial is a tool call that the client did not permit.
type Denial struct {
	Tool  string
	Input json.RawMessage
	// Allow is the entry of allowed_tools that would permit it.
	Allow string
}
