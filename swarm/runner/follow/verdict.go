package follow

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Verdict contains the end of a turn, the reason and the hint.
type Verdict struct {
	End     runner.End // "" if a Run has no cause
	Reason  string
	Hint    string
	ResetAt time.Time
	Unknown bool // only for Limited; see [runner.Outcome.Unknown]
	// Service is only for Limited; see [runner.Outcome.Service].
	Service runner.ServiceError
	// Rejected is only for Failed; see [runner.Outcome.Rejected].
	Rejected bool
	Crashed  bool // see [runner.Outcome.Crashed]
}

// These are hints for failures that the message did not cause.
const (
	HintDisk     = "check the disk and the permissions of the folder"
	HintGoesBack = "nothing has to be done: the message goes back to its mailbox"

	hintAnother = "nothing has to be done: another client will be started"
)

// Gone returns the verdict on a waiting client that cannot accept the prompt.
func Gone(how string) Verdict {
	return Verdict{End: runner.ClientGone, Reason: "the client that was waiting for the message " + how, Hint: "nothing has to be done: another one will be started"}
}

// Lost returns the verdict on a turn that an earlier daemon started and whose client died
// without a result.
func Lost() Verdict {
	return Verdict{End: runner.NoResult, Reason: "the earlier daemon's client is dead and left no result", Hint: HintGoesBack}
}
