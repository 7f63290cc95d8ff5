package runner

import "context"

// A Prober is a [Backend] that can try its client without a call of its model.
type Prober interface {
	Backend

	// Probe starts the client of t, opens a session, waits for its tools as at the start of a
	// turn, and ends the client. It asks the model nothing: t.Prompt is not used, nor are
	// t.Session and t.Permit. When it returns, everything that it has started is gone, also
	// where ctx is done first.
	Probe(ctx context.Context, t Turn) Probe
}

// A Probe is what a client has shown of itself.
type Probe struct {
	Name    string // what it calls itself; "" where it does not tell
	Version string // as it tells it
	Model   string // of a new session
	Mode    string // its permission mode
	Modes   []string
	Tools   Proof

	// End is Done for a client that can begin turns. Otherwise Reason says why it cannot, and
	// Hint what to do.
	End    End
	Reason string
	Hint   string
}

// A Proof says whether a client has the tools of its turn.
type Proof string

// The proofs.
const (
	Unproven Proof = ""       // it has not shown them, or there are none
	Proven   Proof = "proven" // it has listed them
	Later    Proof = "later"  // it starts them with its first prompt; the proof comes with the end of the turn
)
