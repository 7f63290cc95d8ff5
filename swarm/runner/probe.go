package runner

import "context"

// A Prober is a [Backend] that can test its client without calling the model.
type Prober interface {
	Backend

	// Probe starts the client of t, opens a session, waits for its tools as at the start of
	// a turn, and terminates the client. It does not call the model or use t.Prompt,
	// t.Session or t.Permit. When it returns, all processes that it started have ended,
	// even if ctx was done first.
	Probe(ctx context.Context, t Turn) Probe
}

// A Probe is the result of testing a client.
type Probe struct {
	Name    string // the client's own name; "" if it does not report one
	Version string // the version that the client reports
	Model   string // the model of a new session
	Mode    string // the permission mode of a new session
	Modes   []string
	Tools   Proof

	// End is Done for a client that can begin turns. Otherwise Reason explains why it cannot,
	// and Hint explains what to do.
	End    End
	Reason string
	Hint   string
}

// A Proof states whether a client has shown that it has the tools of its turn.
type Proof string

// These are the possible proofs.
const (
	Unproven Proof = ""       // the client has not listed them, or there are none
	Proven   Proof = "proven" // the client has listed them
	Later    Proof = "later"  // the client starts the tool server only with the first prompt, so the proof is available at the end of the turn
)
