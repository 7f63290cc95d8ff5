package journal

import "github.com/claude-swarm/claude-swarm/swarm/runner"

// These are the outcomes of turns that ended well. Their message was processed: it is in
// done/ and is not tried again.
const (
	OutcomeDone = string(runner.Done)
	// OutcomeRefused is the outcome of a turn that did nothing, because every act that the
	// client tried was denied; see [runner.Outcome.OnlyDenied].
	OutcomeRefused = "refused"
)

// EndedWell reports whether an outcome in a receipt or in the ledger is one of a turn that
// ended well.
func EndedWell(outcome string) bool { return outcome == OutcomeDone || outcome == OutcomeRefused }

// OutcomeOf returns the outcome of a turn for its receipt, the ledger, the logs and the feed.
func OutcomeOf(o runner.Outcome) string {
	if o.OnlyDenied {
		return OutcomeRefused
	}
	return string(o.End)
}

// oldBadSetup is the earlier name of [runner.BadSetup]. Files of earlier versions contain it.
// A turn with that end has a reason, and one that ended well has none.
const oldBadSetup = "refused"

// ofNow returns the outcome by its present name.
func ofNow(outcome, reason string) string {
	if outcome == oldBadSetup && reason != "" {
		return string(runner.BadSetup)
	}
	return outcome
}
