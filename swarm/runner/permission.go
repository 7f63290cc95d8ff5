package runner

import (
	"context"
	"encoding/json"
	"time"
)

// A Permit decides about a request that a client makes before it uses a tool. It may
// block until a person has answered: the backend keeps following the turn. At the end of
// the turn, ctx is done, and the backend waits for the Permit to return. A Permit is safe
// for concurrent use. A nil Permit denies everything.
type Permit func(ctx context.Context, r PermissionRequest) Decision

// A PermissionRequest is a tool call for which a client asks permission.
type PermissionRequest struct {
	// Kind is one of the kinds that the Agent Client Protocol names: read, edit, delete,
	// move, search, execute, think, fetch, switch_mode or other.
	Kind string `json:"kind"`
	// Command is the command line of kind execute, and Paths are the files that the call
	// concerns. A client may leave out either.
	Command string   `json:"command,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// Tool is the tool of an MCP server, by the client's name for it. It is "" for a built-in
	// tool, and for a tool that the client does not name.
	Tool string `json:"tool,omitempty"`
	// Title is the client's description of the call for a person.
	Title string          `json:"title,omitempty"`
	Input json.RawMessage `json:"input,omitempty"` // of the tool; nil if the client does not send it
	// Beside is what the client asks for in addition to the command, such as more rights
	// or an address. It is a JSON object, or nil if there is nothing more.
	Beside json.RawMessage `json:"beside,omitempty"`
}

// The constant Nobody is the value of [Decision].By for a question without an answer.
const Nobody = "nobody"

// A Decision is the answer to a [PermissionRequest].
type Decision struct {
	Request PermissionRequest `json:"request"`
	Allowed bool              `json:"allowed"`
	// Rule is the entry of the configuration that decided, such as "execute git push*"; ""
	// if no entry matches the call.
	Rule string `json:"rule,omitempty"`
	// By is the name of the person who answered the question, or "nobody" after its
	// timeout. It is "" if there was no question.
	By string `json:"by,omitempty"`
	// Why is the reason why there was no answer, or no question.
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at"`
}
