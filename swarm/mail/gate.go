package mail

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A Gate decides whether a message may pass. The daemon asks the gate about every message
// that it claims, regardless of the sender, and about its own answers. Several goroutines
// may call the gate concurrently.
type Gate interface {
	Ask(GateQuestion) GateVerdict
}

// A GateQuestion asks about one copy of a message.
type GateQuestion struct {
	Message *dropbox.Message
	To      string // the recipient's mailbox
	Proven  bool   // the message has a valid proof of its sender
	// Suspects are the agents that were working when a message without a proof appeared.
	// One of them may have written it.
	Suspects       []string
	Halted         string // why the conversation is halted, or "" if it is not halted
	BeforeDelivery bool   // the copy has not been delivered yet; the gate is asked again at the claim
	At             time.Time
}

// A GateVerdict says whether a message may pass.
type GateVerdict struct {
	Pass   bool
	Rule   string // one-word name of the rule that stops the message or halts its conversation
	Reason string // one line for people
	Next   string // one line that says what the sender can do
	Halt   bool   // the conversation must be halted, whether or not the message passes
}

func (v GateVerdict) String() string { return v.Rule + ": " + v.Reason }
