package runner

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// An End describes how a turn ended. It determines what happens next.
type End string

// These are the ends of a turn. Records and the ledger contain these strings.
const (
	Done         End = "done"       // the client reports that it did its work
	Failed       End = "failed"     // the client reports that it failed, or it ended without a result after its first event
	NoFirstEvent End = "unborn"     // the client died before its first event, so the message is not the cause
	Limited      End = "limited"    // the account or the service is the cause: usage limit, credit, login, overload, no connection; see ResetAt
	BadSetup     End = "bad-setup"  // the setup is the cause: wrong key, no login, unknown model, not installed, bad flag; a retry would not help
	NoSession    End = "no-session" // the session to resume is unknown, or the new session already exists
	Stalled      End = "stalled"    // we stopped it because it was silent and idle and had no open tool call
	TimedOut     End = "timed-out"  // we stopped it because it took longer than Spec.Timeout
	CapReached   End = "capped"     // it spent [Turn].CapUSD before its work was done; this is not a failure of the message
	Stopped      End = "stopped"    // we stopped it because the context was done, or because output was lost when the disk was full
	NoResources  End = "short"      // nothing was sent, because the machine has temporarily run out of disk space, file descriptors or processes
	NoResult     End = "lost"       // only from Follow: the client is dead and its file contains no result
	ClientGone   End = "gone"       // only from Serve: the waiting client ended or remained silent before it accepted the prompt, so no work was done
	PromptNotRun End = "unheard"    // the client acknowledged the prompt without running it, because it has seen the UUID before
)

// OK reports whether the turn did its work.
func (e End) OK() bool { return e == Done }

// An Outcome contains all facts about a turn that has ended.
type Outcome struct {
	End    End
	Reason string // one line for a person; empty when Done
	// Hint describes in one line what the person can do next. It can be empty. It does
	// not explain how to restart the agent, because the daemon adds that.
	Hint string
	Text string // the client's final answer, or its error text

	Session string  // the session id that the client reported; "" if it did not
	Model   string  // the model of the main conversation
	Version string  // the version that the client reported; "" if it did not
	Billing Billing // how the account is billed, according to the client

	Spent
	Denied []Denial // tool calls that were denied, in order
	// OnlyDenied means that the turn is Done, that at least one act was denied, and that no
	// act succeeded. An act is a tool call that may change something; a call that only looks,
	// waits or handles mail is not.
	OnlyDenied bool
	Decisions  []Decision // decisions of [Turn.Permit], in order
	Files      []string   // paths that Write, Edit and similar tools changed, as reported by the client; sorted, without duplicates

	// Steered contains the UUIDs of the messages from the turn's Steering that the client
	// read and answered with a successful result.
	Steered []string

	// ResetAt is when the limit of a Limited turn ends; zero if the client did not report
	// it.
	ResetAt time.Time
	// Unknown means that the client reported no cause for a Limited turn. The message may
	// be the cause, so it is not retried indefinitely.
	Unknown bool
	// Service describes the failure of the service that a Limited turn met. It is
	// NoServiceError for a limit or a problem of the account.
	Service ServiceError
	// Rejected means that the API rejected the content of a Failed turn: the message, or the
	// conversation in which it was sent.
	Rejected bool

	// Crashed means that the client ended on its own before its turn was over. Exit
	// describes how it ended.
	Crashed bool
	Exit
	FirstEvent bool // the client printed at least one event
	Began      time.Time
	Ended      time.Time
	Stream     streamjson.Stats
}

// A ServiceError describes how the model's service failed a turn. Usually the service is
// the cause. But if other turns on the same account succeed meanwhile, the cause is the
// turn's message, its conversation, or its agent's settings.
type ServiceError string

// These are the ways in which a service fails.
const (
	NoServiceError ServiceError = ""
	ServiceFailed  ServiceError = "failed" // the service answered with an error, such as 500 or 529
	ServiceAway    ServiceError = "away"   // no answer arrived: no connection, a lost connection, a timeout, or another program's answer
)

// A Billing describes how a client's account is billed for its turns.
type Billing string

// A client reports one of these values.
const (
	BillingUnknown      Billing = ""
	BillingAPI          Billing = "api"          // each request is billed by its tokens, so the cost of a turn is actually charged
	BillingSubscription Billing = "subscription" // the price is fixed, so the cost of a turn is only a measure of usage
)

// Spent contains the tokens and the money that a turn has spent.
type Spent struct {
	Tokens      streamjson.Usage // the tokens of all requests in the main conversation
	CostUSD     float64          // including sub-agents and compactions; only the known part if CostUnknown is set
	CostUnknown bool             // the client reported no cost, or only part of it
	SessionUSD  float64          // the total of the session over all its processes at the last result; 0 if the client did not report it
	ToolCalls   int
	Compactions int
	// ContextTokens is the size of the conversation at its last request, and ContextLimit
	// is the model's limit. 0 means unknown.
	ContextTokens int
	ContextLimit  int
}

// An Exit describes how the client's process ended.
type Exit struct {
	ExitCode int    // -1 if a signal terminated the process or the exit code is unknown
	Signal   string // such as "killed"; "" if the process exited on its own
	// Leftovers is the number of processes of the turn that were still running after the
	// client ended and had to be terminated as well.
	Leftovers int
}

// Crash returns how a client crashed, such as "process exited with code 1".
func (x Exit) Crash() string {
	switch {
	case x.Signal != "":
		return "process was terminated by a signal (" + x.Signal + ")"
	case x.ExitCode < 0:
		return "process ended"
	}
	return fmt.Sprintf("process exited with code %d", x.ExitCode)
}

// A Denial is a tool call that the client denied.
type Denial struct {
	Tool  string
	Input json.RawMessage
	// Allow is the configuration entry that would allow the call; see [Tools].
	Allow string
}
