package runner

// Urgent mail: steering lets a message reach a turn that runs: it is written to the client's
// standard input, and goes in with the next tool result. What comes when no tool
// runs any more is a turn of the client's own, right after this one.
//
// The line with which the client repeats the message says that it was taken in,
// and the good end of the result that follows says that it was done.

// A Steer is one message for a running turn.
type Steer struct {
	UUID   string // names it to the client, as that of the prompt does
	Prompt string // ends with a paragraph of the caller's own, as that of a [Turn] does
}

// Steering is how a turn comes by what is to reach it while it runs. Both are used
// by the goroutine of Run alone, so Next may do what that of the caller may.
type Steering struct {
	// Wake gets a value when there may be something; whoever reads it uses it up.
	Wake <-chan struct{}
	// Next gives what comes next, once: from then on the backend has it. It is asked
	// only while the client can take something in.
	Next func() (Steer, bool)
}
