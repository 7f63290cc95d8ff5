package runner

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// An End describes how a turn ended. The next step depends on it.
type End string

// These are the ends of a turn. Records and the ledger contain these words.
const (
	Done         End = "done"       // the client says that it did its work
	Failed       End = "failed"     // the client says that it failed, or ended without a result after its first event
	NoFirstEvent End = "unborn"     // the client died before its first event, so the message is not the cause
	Limited      End = "limited"    // the account or the service is the cause: usage limit, credit, login, overload, no connection; see ResetAt
	Refused      End = "refused"    // the set-up is the cause: wrong key, no login, unknown model, not installed, bad flag; a retry does not help
	NoSession    End = "no-session" // the session to resume is unknown, or the new session exists already
	Stalled      End = "stalled"    // we ended it: silent, idle, and no tool call open
	TimedOut     End = "timed-out"  // we ended it: it took longer than Spec.Timeout
	CapReached   End = "capped"     // it spent [Turn].CapUSD before its work was done: not a failure of the message
	Stopped      End = "stopped"    // we ended it: the context was done, or its output was lost because the disk was full
	NoResources  End = "short"      // the machine has no disk space, file descriptors or processes left for now: nothing was sent
	NoResult     End = "lost"       // Follow: the client is dead and its file has no result
	ClientGone   End = "gone"       // Serve: the waiting client ended or stayed silent before it took the prompt, so no work was done
	PromptNotRun End = "unheard"    // the client acknowledged the prompt without running it, because it has seen the UUID before
)

// OK reports whether the turn did its work.
func (e End) OK() bool { return e == Done }

// An Outcome contains all facts about a turn that has ended.
type Outcome struct {
	End    End
	Reason string // one line for a person; empty when Done
	// Hint is what the person can do next, one line; it may be empty. It does not say how
	// to start the agent again: the daemon adds that.
	Hint string
	Text string // the client's final answer, or its error text

	Session string  // as the client names it; "" if it does not
	Model   string  // of the main conversation
	Version string  // of the client, as it reports it; "" if it did not
	Billing Billing // how the account pays, as the client reports it

	Spent
	Denied    []Denial   // tool calls that were not permitted, in order
	Decisions []Decision // what [Turn.Permit] decided, in order
	Files     []string   // paths that Write, Edit and similar tools changed, as the client named them; sorted, unique

	// Steered are the UUIDs of the messages from the turn's Steering that the client read
	// and answered with a good result.
	Steered []string

	// ResetAt is when the limit of a Limited turn ends; zero when the client did not say.
	ResetAt time.Time
	// Unknown reports that the client named no cause for a Limited turn. The message may
	// be the cause, so it is not parked forever.
	Unknown bool

	// Crashed reports that the client ended on its own before its turn had ended. Exit
	// describes how it ended.
	Crashed bool
	Exit
	FirstEvent bool // the client printed at least one event
	Began      time.Time
	Ended      time.Time
	Stream     streamjson.Stats
}

// A Billing describes how the account of a client pays for its turns.
type Billing string

// A client reports one of these values.
const (
	BillingUnknown      Billing = ""
	BillingAPI          Billing = "api"          // each request is billed by its tokens, so the cost of a turn is on a bill
	BillingSubscription Billing = "subscription" // the price is fixed, so the cost of a turn only measures its use
)

// Spent contains the tokens and the money that a turn has used.
type Spent struct {
	Tokens      streamjson.Usage // of all requests of the main conversation
	CostUSD     float64          // including sub-agents and compactions; only the known part if CostUnknown
	CostUnknown bool             // the client reported no cost, or only a part
	ToolCalls   int
	Compactions int
	// ContextTokens is the size of the conversation at its last request, and ContextLimit
	// the model's limit; 0 when unknown.
	ContextTokens int
	ContextLimit  int
}

// An Exit describes how the client's process ended.
type Exit struct {
	ExitCode int    // -1 if a signal ended the process, or if it is unknown
	Signal   string // such as "killed"; "" when it exited by itself
	// Leftovers counts the processes of the turn that were still running after the client's
	// end and had to be ended.
	Leftovers int
}

// Crash returns how a client crashed, such as "process exited with code 1".
func (x Exit) Crash() string {
	switch {
	case x.Signal != "":
		return "process was ended by a signal (" + x.Signal + ")"
	case x.ExitCode < 0:
		return "process ended"
	}
	return fmt.Sprintf("process exited with code %d", x.ExitCode)
}

// A Denial is a tool call that the client did not permit.
type Denial struct {
	Tool  string
	Input json.RawMessage
	// Allow is the entry of the configuration that would permit the call; see [Tools].
	Allow string
}
