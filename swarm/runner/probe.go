package runner

import "context"

// A Prober is a [Backend] that can test its client without calling the model.
type Prober interface {
	Backend

	// Probe starts the client of t, opens a session, waits for its tools as at the start of
	// a turn, and ends the client. It does not call the model, and does not use t.Prompt,
	// t.Session or t.Permit. When it returns, every process that it has started is gone,
	// even if ctx is done first.
	Probe(ctx context.Context, t Turn) Probe
}

// A Probe is what a test of a client has found.
type Probe struct {
	Name    string // the client's own name; "" if it does not send one
	Version string // as the client reports it
	Model   string // the model of a new session
	Mode    string // its permission mode
	Modes   []string
	Tools   Proof

	// End is Done for a client that can begin turns. Otherwise Reason says why it cannot, and
	// Hint what to do.
	End    End
	Reason string
	Hint   string
}

// A Proof states whether a client has shown that it has the tools of its turn.
type Proof string

// These are the proofs.
const (
	Unproven Proof = ""       // it has not listed them, or there are none
	Proven   Proof = "proven" // it has listed them
	Later    Proof = "later"  // it starts their server with its first prompt; the proof comes by the end of the turn
)
