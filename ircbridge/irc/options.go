package irc

import "time"

// A Channel is a channel that a [Client] should be in.
type Channel struct{ Name, Key string }

// Options are the settings of a [Client] that are not in its [Config].
type Options struct {
	Channels []Channel
	Backoff  Backoff // between connections, and between the first tries to get into a channel
	Memory   Memory  // nil means a [RAM]

	// RejoinAfter are the pauses between later tries to get into a channel; the last one
	// repeats. nil means 1, 2, 5 and 10 minutes.
	RejoinAfter []time.Duration
}

// Status is the state of a client.
type Status struct {
	Up     bool
	Err    error             // why it is not up; nil while it is up or has not tried
	Retry  time.Time         // when the next try is; zero while it is up
	Tries  int               // how many connections were tried
	Conn   State             // the connection's state; its Phase is Closed if there is no connection
	Failed map[string]string // channels that do not let this client in, and why
}
