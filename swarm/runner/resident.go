package runner

import "context"

// A Resident is a [Backend] whose client can stay for the next turn: the next
// prompt goes to the same process, which goes on in the same session and writes
// on to the same file. What a turn is does not change: each has its own UUID,
// record and outcome.
//
//	        Serve(t, nil)              Serve(t, warm)
//	start ───── turn ───── result ─┬─ next prompt ─ turn ─ result ─┬─ …
//	              │                │                               │
//	              └ exit, nil      └ waits: a Warm ── Close ── exit└ exit, nil
type Resident interface {
	Backend

	// Serve is Run with a client that stays where it can. With warm nil it starts
	// one. Else it sends the prompt to warm, which is used up by the call, and
	// t.Client, t.From, Stdout and Stderr are those of it; t.Started is called
	// before the prompt is sent, as always. When warm has died, dies or is silent
	// before it has taken the prompt, the outcome is [ClientGone].
	//
	// The returned Warm is nil when nothing of the turn runs any more, as after
	// Run. It stays only after a turn that is [Done], has not compacted its
	// context, has left no work in the background that the client minds, and has
	// kept its session; the outcome tells then what was known at its result, and
	// Exit is zero. Processes that the turn left behind live as long as it.
	Serve(ctx context.Context, t Turn, warm Warm) (Outcome, Warm)
}

// A Warm is a client between two turns. It belongs to one goroutine at a time,
// which gives it to the next Serve or closes it.
type Warm interface {
	// Process names the client.
	Process() Process
	// Exited is closed when it has ended. Close is to be called anyway.
	Exited() <-chan struct{}
	// Place is where the next turn begins.
	Place() Place
	// Stirs reports whether the client does something by itself since its turn
	// ended. Nobody asked for that, so it is to be closed.
	Stirs() bool
	// Close tells the client that no more comes, and returns when nothing of it
	// runs any more, what its turns have left behind included. When it does not go
	// within Timing.Close, or when ctx is done, it is killed.
	Close(ctx context.Context) Exit
}

// A Place is a point between two turns of one client. The zero Place is its
// beginning.
type Place struct {
	Offset  int64   `json:"offset"`   // in its standard output, in bytes
	CostUSD float64 `json:"cost_usd"` // the running total that the client had told by then, in US dollars
}
