package runner

import (
	"context"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A Resident is a [Backend] whose client can stay for the next turn. The next prompt goes
// to the same process, which continues the same session and the same output file. Each
// turn still has its own UUID, record and outcome.
//
//	        Serve(t, nil)              Serve(t, warm)
//	start ───── turn ───── result ─┬─ next prompt ─ turn ─ result ─┬─ …
//	              │                │                               │
//	              └ exit, nil      └ waits: a Warm ── Close ── exit└ exit, nil
type Resident interface {
	Backend

	// Serve is like Run, but the client stays if possible. If warm is nil, Serve starts a
	// client. Otherwise it sends the prompt to warm, which the caller must no longer use.
	// In that case t.Client, t.From, Stdout and Stderr must be those of warm, and
	// t.Started is called before the prompt is sent, as usual. If warm ends or remains
	// silent before it has accepted the prompt, the outcome is [ClientGone].
	//
	// If the returned Warm is nil, all processes of the turn have ended, as after Run.
	// The client stays only after a turn that is [Done], has not compacted its context,
	// has left no background work whose end the client would report, and has kept its
	// session. In that case, the outcome contains the facts known at the turn's result,
	// and Exit is zero. Processes that the turn left behind keep running until the client
	// ends.
	Serve(ctx context.Context, t Turn, warm Warm) (Outcome, Warm)
}

// A Warm is a client between two turns. It is not safe for concurrent use. Its owner
// passes it to the next Serve or closes it.
type Warm interface {
	// Process returns the client's process.
	Process() Process
	// Exited returns a channel that is closed when the client has exited. Close must be
	// called even after that.
	Exited() <-chan struct{}
	// Place returns where the next turn begins.
	Place() Place
	// Stirs reports whether the client has begun work on its own since its turn ended. No
	// message requested that work, so the caller must close the client.
	Stirs() bool
	// Close closes the client's input and returns when all its processes have ended,
	// including those that its turns have left behind. It kills the client if it does not
	// exit within Timing.Close or before ctx is done.
	Close(ctx context.Context) Exit
}

// A Place is a point between two turns of one client. The zero Place is the beginning of
// the first turn.
type Place struct {
	Offset  int64   `json:"offset"`   // in the client's standard output, in bytes
	CostUSD float64 `json:"cost_usd"` // the client's running total at that point, in US dollars
	// Tokens is the client's running total of tokens at that point, if the client reports one.
	Tokens streamjson.Usage `json:"tokens,omitzero"`
}
