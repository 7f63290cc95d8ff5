package runner

import (
	"context"
	"encoding/json"
	"time"
)

// A Permit decides what a client asks for before it uses a tool. It may block until
// somebody has answered: the backend follows the turn meanwhile, and waits for the Permit at
// the end of the turn, when ctx is done. It is safe for several goroutines. A nil Permit
// denies everything.
type Permit func(ctx context.Context, r PermissionRequest) Decision

// A PermissionRequest is a tool call that a client does not make without permission.
type PermissionRequest struct {
	// Kind is one of the kinds that the Agent Client Protocol names: read, edit, delete,
	// move, search, execute, think, fetch, switch_mode or other.
	Kind string `json:"kind"`
	// Command is the command line of kind execute, and Paths are the files that the call
	// concerns; both as the client tells them, which may be not at all.
	Command string   `json:"command,omitempty"`
	Paths   []string `json:"paths,omitempty"`
	// Tool is the tool of an MCP server, by the client's name of it; "" is a tool of the
	// client itself, or one that it does not name.
	Tool string `json:"tool,omitempty"`
	// Title is how the client describes the call to a person.
	Title string          `json:"title,omitempty"`
	Input json.RawMessage `json:"input,omitempty"` // of the tool; nil where the client does not tell it
}

// A Decision is the answer to a [PermissionRequest].
type Decision struct {
	Request PermissionRequest `json:"request"`
	Allowed bool              `json:"allowed"`
	// Rule is the entry of the configuration that decided, such as "execute git push*"; ""
	// when nothing there names the call.
	Rule string `json:"rule,omitempty"`
	// By says who answered a question: a name, or "nobody" when its time was over. It is ""
	// when nobody was asked.
	By string `json:"by,omitempty"`
	// Why says why nobody answered, or why nobody could be asked.
	Why string    `json:"why,omitempty"`
	At  time.Time `json:"at"`
}
