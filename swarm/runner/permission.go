package runner

import (
	"context"
	"encoding/json"
	"time"
)

// A Permit decides on a request that a client makes before it uses a tool. It may block
// until a person has answered, because the backend continues to follow the turn in the
// meantime. At the end of the turn, ctx is cancelled, and the backend waits for the
// Permit to return. A Permit is safe for concurrent use. A nil Permit denies everything.
type Permit func(ctx context.Context, r PermissionRequest) Decision

// A PermissionRequest is a tool call for which a client asks permission.
type PermissionRequest struct {
	// Kind is one of the tool kinds that the Agent Client Protocol defines: read, edit,
	// delete, move, search, execute, think, fetch, switch_mode or other.
	Kind string `json:"kind"`
	// Command is the command line of a call of kind execute, and Paths are the files that
	// the call uses. A client can omit either.
	Command string   `json:"command,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// Tool is the client's name for a tool of an MCP server. It is "" for a built-in tool,
	// and for a tool that the client does not name.
	Tool string `json:"tool,omitempty"`
	// Own means that the tool is one of ours ([Turn.Tools]). A Permit then decides at once.
	Own bool `json:"own,omitempty"`
	// Title is the client's human-readable description of the call.
	Title string          `json:"title,omitempty"`
	Input json.RawMessage `json:"input,omitempty"` // the tool's input; nil if the client does not send it
	// Beside contains what the client requests in addition to the command, such as
	// further permissions or a URL. It is a JSON object, or nil if the client requests
	// only the command.
	Beside json.RawMessage `json:"beside,omitempty"`
}

// The constant Nobody is the value of [Decision].By for a question without an answer.
const Nobody = "nobody"

// A Decision is the answer to a [PermissionRequest].
type Decision struct {
	Request PermissionRequest `json:"request"`
	Allowed bool              `json:"allowed"`
	// Rule is the configuration entry on which the decision is based, such as "execute git
	// push*". It is "" if no entry matches the call.
	Rule string `json:"rule,omitempty"`
	// By is the name of the person who answered the question, or "nobody" if the question
	// timed out. It is "" if no question was asked.
	By string `json:"by,omitempty"`
	// Why explains why the question was not answered or not asked.
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at"`
}
